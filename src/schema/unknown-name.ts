import { nearestKey } from './nearest-key.ts'

/**
 * The sentence on a name that nothing has. The name itself is left out, for it may come from a variable.
 *
 * @param thing what has such names, in the singular
 * @param all the names that there are
 * @param none what is expected where there are none
 * @param isPattern whether it is an expression that names must match
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
