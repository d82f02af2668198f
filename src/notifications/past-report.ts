import type { Rule } from '../alerts/rule.ts'
import type { Clock } from '../clock/clock.ts'
import { pastOf, type Past } from '../history/past.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import type { Store } from '../store/store.ts'
import type { Report } from './delivery/reports.ts'
import type { PastMessage } from './message.ts'
import { ruleText, titleOf } from './text/notification-text.ts'

/** A target as it was set up. Times are by the service's clock. */
export type SetUpTarget = Pick<SyncState, 'created' | 'past'> & {
  name: string
  serviceNow: number
  /** Whether a confirmed sweep has read its list. */
  isSwept: boolean
}

export type PastReportOptions = {
  targets: () => readonly SetUpTarget[]
  /** The time zone of hours is that of the digest. */
  settings: () => { digest: { timezone: string } | undefined; rules: readonly Rule[] }
  store: Pick<Store, 'rows' | 'openCalls'>
  clock: Pick<Clock, 'wall'>
  /** Whether what has this key was reported to all receivers, or is about to be. */
  isReported: (key: string) => boolean
}

const DAY = 86_400
/** Targets that were set up together are reported together, unless the sweep of one takes longer than this (seconds). */
const MAX_WAIT_SECONDS = 600

/**
 * Makes a report of the last day of new targets, whose past was counted: one for all that are swept, and one in the life of each.
 * Call it every few seconds.
 *
 * @returns undefined if none is due
 * @throws {StoreError}
 */
export async function pastReport(options: PastReportOptions): Promise<Report | undefined> {
  const { targets, settings, store, clock, isReported } = options
  const added = targets().filter(({ created, serviceNow }) => serviceNow - created < DAY)
  const keyOf = ({ name, created }: SetUpTarget) => `past of ${name} before ${created}`
  if (added.some(({ isSwept, created, serviceNow }) => !isSwept && serviceNow - created < MAX_WAIT_SECONDS))
    return undefined
  const due = new Map(added.flatMap((target) => (target.past === undefined ? [] : [[keyOf(target), target]])))
  for (const key of due.keys()) if (isReported(key)) due.delete(key)
  const reported = [...due.values()]
  if (reported.length === 0) return undefined
  const to = Math.max(...reported.map(({ serviceNow }) => serviceNow))
  const from = Math.max(to - DAY, Math.min(...reported.map((target) => knownSince(target))))
  const past = await pastOf(store, reported.map(({ name }) => name), { from, to }) // oxfmt-ignore
  const { digest: { timezone } = { timezone: 'UTC' }, rules } = settings()
  // Whoever is added on the same day gets it, too.
  return {
    keys: [...due.keys()],
    due: Infinity,
    until: clock.wall() + DAY,
    message: pastMessage(past, { timezone, rules }),
  }
}

/** @param timezone in which the hour of most failures is named */
export function pastMessage(
  past: Past,
  { timezone, rules }: { timezone: string; rules: readonly Rule[] },
): PastMessage {
  const textOf = ({ name: alert, ...rule }: Rule) =>
    `${titleOf({ alert, labels: rule.match })}: ${ruleText({ ...rule, alert })}`
  return { kind: 'past', ...past, timezone, rules: rules.map(textOf) }
}
