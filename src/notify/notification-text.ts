import type { Notification } from '../alerts/notification.ts'

/** A value of the notification's signal, as people read it: `37.5 %`, `5m 30s`. */
export function formatValue({ signal }: Pick<Notification, 'signal'>, value: number): string {
  return signal === 'failure_ratio' ? `${formatNumber(value * 100)} %` : formatSeconds(value)
}

/** Seconds as `45s`, `5m`, `1h 30m`, `2d 3h`: the two largest units. */
export function formatSeconds(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const
  let rest = Math.max(0, Math.round(seconds))
  const parts: string[] = []
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.slice(0, 2).join(' ') || '0s'
}

/** The state of the alert in one line: what is measured, how it stands to the threshold, and over how many calls. */
export function summaryOf(notification: Notification): string {
  const { kind, signal, value, threshold, closedBecause } = notification
  const is = formatValue(notification, value)
  const limit = formatValue(notification, threshold)
  const subject = signal === 'failure_ratio' ? ratioText(notification) : `no good poll for ${is}`
  if (kind === 'firing') return `${subject}, above the threshold of ${limit}`
  if (kind === 'closed') return `${subject} when last judged; closed: ${closedBecause ?? 'no verdict'} (not resolved)`
  return signal === 'failure_ratio'
    ? `${subject}, back at or below ${limit}`
    : `polls are good again, the last one ${is} ago`
}

/** The rule's description with its placeholders filled in: {value} {threshold} {calls} {window} {labels}. */
export function descriptionOf(notification: Notification): string | undefined {
  const { description, value, threshold, counts, window, target } = notification
  const fillings = new Map([
    ['value', formatValue(notification, value)],
    ['threshold', formatValue(notification, threshold)],
    ['calls', String(counts?.total ?? 0)],
    ['window', formatSeconds(window ?? 0)],
    ['labels', `target=${target}`],
  ])
  return description?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => fillings.get(name) ?? whole)
}

/** `17 of 40 calls that finished in the last 15m failed: 42.5 %`. */
function ratioText(notification: Notification): string {
  const { value, counts, reason = 'any', window = 0 } = notification
  const total = counts?.total ?? 0
  const calls = `${Math.round(value * total)} of ${total} ${total === 1 ? 'call' : 'calls'}`
  const failed = reason === 'any' ? 'failed' : `were ${reason}`
  return `${calls} that finished in the last ${formatSeconds(window)} ${failed}: ${formatValue(notification, value)}`
}

function formatNumber(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** How the finished calls behind a ratio ended, failures first by number: `rejected 12, unanswered 5, canceled 0, ended 23`. */
export function splitOf({ counts }: Notification): string | undefined {
  if (counts === undefined) return undefined
  const failures = (['unanswered', 'rejected', 'canceled'] as const).toSorted((a, b) => counts[b] - counts[a])
  const shown = [...failures, 'ended' as const, ...(counts.other > 0 ? (['other'] as const) : [])]
  return shown.map((status) => `${status} ${counts[status]}`).join(', ')
}

/** A time (UNIX seconds) as `2026-11-20 08:15:30 UTC`. */
export function formatTime(seconds: number): string {
  return `${new Date(Math.floor(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
