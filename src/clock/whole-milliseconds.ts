/** A time or length (seconds) as the history of evaluations keeps it: what is evaluated again must be the very same. */
export function wholeMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
