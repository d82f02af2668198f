/** Formats UNIX seconds as ISO 8601 in UTC, the format of all times that callwatch shows to programs. */
export function isoTime(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString()
}
