/**
 * The known key that the user most likely meant, or undefined if none is similar: at most two edits, or a third of its
 * length. Case, `_` and `-` are ignored, so `pageSize` matches `page_size`.
 */
export function nearestKey(mistyped: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((key) => ({ key, distance: editDistance(plain(mistyped), plain(key)) }))
    .toSorted((a, b) => a.distance - b.distance)
  const best = ranked[0]
  if (best === undefined) return undefined
  const limit = Math.min(Math.max(2, Math.floor(best.key.length / 3)), best.key.length - 1)
  return best.distance <= limit ? best.key : undefined
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, '')
}

/** Levenshtein 1966: insertions, deletions and replacements that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

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
  if (known.length > MOST) return `no ${thing} ${has}; expected one of the ${known.length} ${thing}s`
  return `no ${thing} ${has}; expected one of ${known.map((one) => `\`${one}\``).join(', ')}`
}

/** As many names are listed. */
const MOST = 10

/** What follows “there is no target NAME”: a few names, the one that was probably meant, or how many there are and what lists them. */
export function knownNames(name: string, known: readonly string[]): string {
  if (known.length <= MOST) return `there is: ${known.join(', ') || 'none'}`
  const near = nearestKey(name, known)
  return near === undefined ? `there are ${known.length}, which \`callwatch status\` lists` : `did you mean ${near}?`
}
