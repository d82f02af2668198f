/** Times that were formatted recently: the events of a poll share most of theirs. */
const known = new Map<number, string>()
const MAX_KNOWN = 5000

/** Formats UNIX seconds as ISO 8601 in UTC, the format of all times that callwatch shows to programs. */
export function isoTime(seconds: number): string {
  const before = known.get(seconds)
  if (before !== undefined) return before
  const text = new Date(Math.round(seconds * 1000)).toISOString()
  if (known.size === MAX_KNOWN) known.clear()
  known.set(seconds, text)
  return text
}
