const secondsPer: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

/** The form of a duration in the file. */
export const DURATION_FORM = /^(?:0|\d{1,12}(?:ms|s|m|h|d))$/

/** Seconds of a duration like `500ms`, `15s`, `5m`, `24h`, `7d` or `0`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION_FORM.test(text)) return undefined
  const unit = text.replace(/^\d+/, '')
  const count = Number.parseInt(text, 10)
  return unit === 'ms' ? count / 1000 : count * (secondsPer[unit] ?? 0)
}

/** Formats seconds in the largest unit that needs no fraction: 900 is `15m`, 90 is `90s`, 0 is `0s`. */
export function formatDuration(seconds: number): string {
  if (seconds === 0) return '0s'
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = secondsPer[unit]!
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`
  }
  return `${Math.round(seconds * 1000)}ms`
}
