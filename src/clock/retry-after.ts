/**
 * Retry-After in seconds from now (RFC 9110 §10.2.3: delay-seconds or an HTTP-date); undefined where it is neither.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value)
  const date = Date.parse(value) / 1000
  return Number.isFinite(date) ? Math.max(0, date - now) : undefined
}
