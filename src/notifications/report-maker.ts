import type { Rule } from '../alerts/rule.ts'
import { usualShares } from '../alerts/rule-value.ts'
import { usualPeriods, withUsual } from '../alerts/usual.ts'
import type { Clock } from '../clock/clock.ts'
import { coverageOf } from '../history/coverage.ts'
import { reportOf } from '../history/report.ts'
import type { Store } from '../store/store.ts'
import { reportView } from '../views/report.ts'
import type { DueReport } from './due-report.ts'
import type { ReportMessage, UsualShare } from './message.ts'

export type ReportMakerOptions = {
  clock: Pick<Clock, 'wall'>
  store: Pick<Store, 'rows' | 'summedCalls'>
  rules: () => readonly Rule[]
  /** The names of the configured targets. */
  targets: () => readonly string[]
}

/** If polls have not covered this much of a period yet (seconds), its report waits for them, up to the limit below. */
const MISSING_SECONDS = 3600
const MAX_WAIT_SECONDS = 2 * 3600
/** How often a report that waits, or could not be made, is tried again (seconds). */
const RETRY_SECONDS = 60

/** A report is made once for all receivers that are due for it, and kept for those that fail (seconds). */
const KEPT_SECONDS = 6 * 3600
type Made = { askedAt: number; triedAt: number; message: Promise<ReportMessage | undefined> }

/**
 * A function that makes a report, once for all who ask for it. While an hour of its period is not covered, and polls may still show its
 * calls, it resolves to undefined for up to two hours.
 */
export function reportMaker(options: ReportMakerOptions): (due: DueReport) => Promise<ReportMessage | undefined> {
  const { clock } = options
  const made = new Map<string, Made>()
  return async (due) => {
    const key = JSON.stringify([
      due.timezone,
      due.every === undefined ? due.setUp.map(({ name, created }) => [name, created]) : [due.every, due.due],
    ])
    const now = clock.wall()
    for (const [other, { askedAt }] of made) if (now - askedAt > KEPT_SECONDS) made.delete(other)
    const known = made.get(key) ?? { askedAt: now, triedAt: -Infinity, message: Promise.resolve(undefined) }
    made.set(key, known)
    const message = await known.message.catch(() => undefined)
    if (message !== undefined || now - known.triedAt < RETRY_SECONDS) return message
    known.triedAt = now
    known.message = messageOf(options, due, now - known.askedAt < MAX_WAIT_SECONDS)
    return known.message
  }
}

async function messageOf(
  options: ReportMakerOptions,
  due: DueReport,
  mayWait: boolean,
): Promise<ReportMessage | undefined> {
  const { store, targets, clock } = options
  const { from, to, timezone: zone, every } = due
  const known = { configured: targets(), now: clock.wall() }
  const isMissing = async () => {
    const { blind } = await coverageOf(store, { from, to }, known)
    return blind.some(({ kind, ...time }) => kind === 'now' && time.to - time.from >= MISSING_SECONDS)
  }
  if (every !== undefined && mayWait && (await isMissing())) return undefined
  const setUp = due.every === undefined ? due.setUp.map(({ name }) => name) : undefined
  const report = reportView(await reportOf(store, { from, to, by: ['target'], zone, targets: setUp }, known))
  const first = setUp && { setUp, usual: await usualOn(options, setUp, to) }
  return { kind: 'report', report, every, ...first }
}

/** Which calls the share is of, and what they do. */
const failing = ({ match: of, signal }: Rule) => ({ of, reason: 'reason' in signal ? signal.reason : ('any' as const) })

/** What is usual on targets at a time (UNIX seconds by the service's clock). */
async function usualOn({ store, rules }: ReportMakerOptions, targets: readonly string[], now: number) {
  const end = { now, previousSuccess: now }
  const periods = usualPeriods(rules(), end)
  const all: UsualShare[] = []
  for (const target of targets) {
    const usual = await Promise.all(periods.map((period) => store.summedCalls(target, period)))
    for (const rule of rules())
      for (const [alert, share] of usualShares(rule, { ...end, usual }))
        all.push({ alert, target, ...failing(rule), usual: share, threshold: withUsual(rule, share).threshold })
  }
  return all.toSorted((a, b) => b.usual - a.usual)
}
