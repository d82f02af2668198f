import type { Rule } from '../alerts/rule.ts'
import { pastOf, type Past } from '../history/past.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import { list } from '../store/sql.ts'
import type { Store } from '../store/store.ts'
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
  settings: () => { receivers: readonly string[]; digest: { timezone: string } | undefined; rules: readonly Rule[] }
  store: Pick<Store, 'rows' | 'openCalls' | 'enqueueOnce'>
}

const DAY = 86_400
/** Targets that were set up together are reported together, unless the sweep of one takes longer than this (seconds). */
const MAX_WAIT_SECONDS = 600

/**
 * Enqueues a report of the last day of new targets, whose past was counted: one for all that are swept, and one in the life of each.
 * Call it every few seconds.
 *
 * @throws {StoreError}
 */
export async function pastReport({ targets, settings, store }: PastReportOptions): Promise<void> {
  const added = targets().filter(({ created, serviceNow }) => serviceNow - created < DAY)
  const keyOf = ({ name, created }: SetUpTarget) => `past of ${name} before ${created}`
  if (added.some(({ isSwept, created, serviceNow }) => !isSwept && serviceNow - created < MAX_WAIT_SECONDS)) return
  const due = new Map(added.flatMap((target) => (target.past === undefined ? [] : [[keyOf(target), target]])))
  if (due.size === 0) return
  const query = 'SELECT key FROM callwatch.deduplication_keys WHERE key IN texts($1)'
  for (const { key } of await store.rows(query, [list(due.keys())])) due.delete(String(key))
  const reported = [...due.values()]
  if (reported.length === 0) return
  const to = Math.max(...reported.map(({ serviceNow }) => serviceNow))
  const from = Math.max(to - DAY, Math.min(...reported.map((target) => knownSince(target))))
  const past = await pastOf(store, reported.map(({ name }) => name), { from, to }) // oxfmt-ignore
  const { receivers, digest: { timezone } = { timezone: 'UTC' }, rules } = settings()
  const digest = pastMessage(past, { timezone, rules })
  await store.enqueueOnce([...due.keys()], { kind: 'digest', digest }, receivers)
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
