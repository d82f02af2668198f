import { lastDue, type CalendarPeriod } from '../clock/calendar.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import type { ReceiverState } from '../store/store.ts'
import type { NotifyConfig } from './notify-section.ts'

/** A target as it was set up. Times are by the service's clock (UNIX seconds). */
export type SetUpTarget = Pick<SyncState, 'created' | 'past'> & {
  name: string
  serviceNow: number
  /** Whether a confirmed sweep has read its list. */
  isSwept: boolean
}

/** The period of a report that a receiver gets, and what it is remembered by once it did. Times are UNIX seconds. */
export type DueReport = { from: number; to: number; timezone: string } & (
  | { every: CalendarPeriod; due: number }
  | { every: undefined; setUp: readonly SetUpTarget[] }
)

type Known = { reports: NotifyConfig['reports']; targets: readonly SetUpTarget[]; now: number }

const DAY = 86_400
/** Targets that were set up together are reported together, unless the sweep of one takes longer than this (seconds). */
const MAX_WAIT_SECONDS = 600
/** How long it is remembered that a receiver got the first report of a target (seconds): longer than it is due. */
const REMEMBERED_SECONDS = 2 * DAY

/**
 * The next report that a receiver must get; undefined if none is due. A report is due until the next one of its kind is. Pure.
 *
 * @param reports those that are configured for the receiver
 * @param now the host's clock (UNIX seconds)
 */
export function dueReport(state: ReceiverState, { reports, targets, now }: Known): DueReport | undefined {
  const first = firstReport(state, { reports, targets })
  if (first !== undefined) return first
  for (const { every, at, timezone } of reports) {
    const { due, from, to } = lastDue(every, at, timezone, now)
    // Whoever was added later does not get it.
    if (due < state.added || hasGot(state.reports[every], { from, to, now })) continue
    if (targets.some((target) => knownSince(target) < to)) return { every, due, from, to, timezone }
  }
  return undefined
}

/** Whether the report of a period was sent, by the end of the latest one that was. Another `at` or time zone does not repeat one. */
function hasGot(latest: number | undefined, { from, to, now }: { from: number; to: number; now: number }): boolean {
  // By a clock that was far ahead it counts for nothing.
  return latest !== undefined && latest < now + DAY && to - latest < (to - from) / 2
}

/** That of the last day of targets whose past was counted, of all together that are swept, once in the life of each. */
function firstReport({ setUps }: ReceiverState, { reports, targets }: Omit<Known, 'now'>): DueReport | undefined {
  const added = targets.filter(({ created, serviceNow }) => serviceNow - created < DAY)
  if (added.some(({ isSwept, created, serviceNow }) => !isSwept && serviceNow - created < MAX_WAIT_SECONDS))
    return undefined
  const setUp = added.filter(({ name, created, past }) => past !== undefined && setUps[name] !== created)
  if (setUp.length === 0) return undefined
  const to = Math.max(...setUp.map(({ serviceNow }) => serviceNow))
  const from = Math.max(to - DAY, Math.min(...setUp.map((target) => knownSince(target))))
  return { every: undefined, setUp, from, to, timezone: reports[0]?.timezone ?? 'UTC' }
}

/** What is known of a receiver that got a report. @param now the host's clock (UNIX seconds) */
export function stateAfter({ reports, setUps, ...state }: ReceiverState, got: DueReport, now: number): ReceiverState {
  if (got.every !== undefined) return { ...state, setUps, reports: { ...reports, [got.every]: got.to } }
  const kept = Object.entries(setUps).filter(([, created]) => now - created < REMEMBERED_SECONDS)
  const added = got.setUp.map(({ name, created }) => [name, created] as const)
  return { ...state, reports, setUps: Object.fromEntries([...kept, ...added]) }
}
