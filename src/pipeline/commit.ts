import { STALE_INTERVALS } from '../clock/intervals.ts'
import { newEvents } from '../events/new-events.ts'
import { applyDelta } from '../ledger/state.ts'
import type { Period } from '../ledger/finished-calls.ts'
import type { PollSuccess } from '../ledger/observation.ts'
import { StoreError } from '../store/store-error.ts'
import type { Decision } from './decide.ts'
import type { WebhookEnds } from './missed-webhooks.ts'
import { hostOpened, type Target } from './target.ts'

/** What was committed of a target, how long that took (seconds), and what webhooks announced of it. */
export type Committed = Pick<Decision, 'ledger' | 'alerts' | 'worst'> & {
  target: string
  seconds: number
  ends?: WebhookEnds
}

/**
 * Writes a decision to the store, completely or not at all.
 *
 * @throws {StoreError} and then nothing has changed, unless the answer of a shared store was lost
 */
export async function commit(target: Target, decision: Decision): Promise<Committed> {
  const { name, store, clock } = target
  if (target.lastCommitUnknown)
    throw new StoreError(
      'unavailable',
      `it is not known yet what was last committed of target ${name}; it is loaded from the store again`,
    )
  const begun = clock.monotonic()
  const { notifications } = decision.alerts
  const backfilled = isBackfilled(target)
  const events = newEvents({ ledger: decision.ledger, notifications, backfilled }, clock.wall())
  const gap = longGap(target, decision)
  try {
    await store.commit(name, { ...decision, events, gap })
  } catch (error) {
    target.lastCommitUnknown = store.cluster !== undefined
    throw error
  }
  const ends = target.ends?.count(decision.ledger)
  return { target: name, ...decision, seconds: clock.monotonic() - begun, ...(ends && { ends }) }
}

/** Whether what the poll finds may have happened long ago, because nothing was polled before, or not for a while. */
function isBackfilled({ ledger, settings, clock }: Target): boolean {
  const { lastSuccessHostTime = -Infinity } = ledger.sync
  return clock.wall() - lastSuccessHostTime > STALE_INTERVALS * settings.poll.interval
}

/** The time before this successful poll without any, if it was long. */
function longGap(target: Target, { ledger: { sync } }: Decision): Period | undefined {
  const { lastSuccess: serviceTime, lastSuccessHostTime: hostTime = Infinity } = sync
  if (serviceTime === undefined || serviceTime === target.ledger.sync.lastSuccess) return undefined
  const gap = gapBefore({ serviceTime, hostTime }, target)
  return gap.to - gap.from > STALE_INTERVALS * target.settings.poll.interval ? gap : undefined
}

/**
 * The time before a successful poll without any, by the service's clock; since the target was created, if there was none.
 *
 * @param target as before the poll
 */
export function gapBefore({ serviceTime: to, hostTime }: Polled, target: GapOf): Period {
  const { sync: before } = target.ledger
  // By the host's clock, until the service's is known.
  const [created, hostCreated] =
    before.clockSkew === undefined ? [-Infinity, hostOpened(target)] : [before.created, -Infinity]
  const { lastSuccess = created, lastSuccessHostTime = hostCreated } = before
  // The shorter time by the two clocks, since the service may have sent a wrong time for a while.
  return { from: Math.max(lastSuccess, to - (hostTime - lastSuccessHostTime)), to }
}

export type GapOf = Pick<Target, 'ledger' | 'clock' | 'times'>

/** When a poll succeeded. */
export type Polled = Pick<PollSuccess, 'serviceTime' | 'hostTime'>

/** While the first poll reads pages, no rule misses a poll before the next page is so late (seconds). */
const NEXT_PAGE_SECONDS = 60

/**
 * Applies a commit to the state in memory. Nothing else changes that state, except that `ledger.earlier` and `ledger.usual` are read from the
 * store.
 *
 * @param success of the poll that this commit completes, if it does
 */
export function apply(target: Target, committed: Committed, success?: PollSuccess): Committed {
  const { ledger, alerts, times, clock } = target
  applyDelta(ledger, committed.ledger, target.longestWindow)
  for (const instance of committed.alerts.changed) alerts.set(instance.key, instance)
  for (const { key } of committed.alerts.ended) alerts.delete(key)
  if (committed.worst !== undefined) target.values.note(committed.worst, clock.wall())
  // The first poll may read thousands of pages.
  const isFirst = ledger.sync.lastSuccess === undefined && committed.ledger.calls.size > 0
  if (isFirst) times.awaited = clock.monotonic() + NEXT_PAGE_SECONDS
  if (success === undefined) return committed
  times.polled = clock.monotonic()
  times.evaluated = times.polled
  times.awaited = -Infinity
  if (success.endsSweep) times.swept = times.polled - Math.max(0, success.serviceTime - success.beganServiceTime)
  return committed
}
