import { nearestKey } from './nearest-key.ts'

/**
 * The sentence about an unknown name. It does not quote the name, which may come from a variable.
 *
 * @param thing what has such names, in the singular
 * @param all the known names
 * @param none what is expected if there are no names
 * @param isPattern whether the name is an expression that names must match
 */
export function unknownName(
  name: string,
  thing: string,
  all: readonly unknown[],
  none: string,
  isPattern = false,
): string {
  const known = all.filter((one) => typeof one === 'string')
  const has = isPattern ? 'matches this expression' : 'has this name'
  const near = isPattern ? undefined : nearestKey(name, known)
  if (near !== undefined) return `no ${thing} has this name; did you mean \`${near}\`?`
  if (known.length === 0) return `no ${thing} ${has}; expected ${none}, since there are no ${thing}s`
  return `no ${thing} ${has}; expected one of ${known.map((one) => `\`${one}\``).join(', ')}`
}
