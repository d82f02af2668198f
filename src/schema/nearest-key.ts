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
