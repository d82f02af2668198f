import { v7 as uuid } from 'uuid'
import { eventsOf, writeBody } from '../events/event.ts'
import { apply as applyDelta } from '../ledger/state.ts'
import type { PollSuccess } from '../ledger/observation.ts'
import { StoreError, type Commit, type NewEvents } from '../store/store.ts'
import type { Decision } from './decide.ts'
import type { Target } from './target.ts'

/** What was just committed of a target, and how long that took (seconds). */
export type Committed = Pick<Commit, 'ledger' | 'alerts'> & { target: string; seconds: number }

/**
 * Writes a decision to the store, whole or not at all.
 *
 * @throws {StoreError} and then nothing has changed, unless the answer of a shared store was lost
 */
export async function commit(target: Target, decision: Decision): Promise<Committed> {
  const { name, store, clock, route } = target
  if (target.lastCommitUnknown)
    throw new StoreError(
      'unavailable',
      `it is not known yet what was last committed of target ${name}; it is loaded from the store again`,
    )
  const begun = clock.monotonic()
  const routedChanges = decision.alerts.notifications.map((change) => ({ change, receivers: route(change) }))
  try {
    await store.commit(name, { ...decision, routedChanges, events: newEvents(target, decision) })
  } catch (error) {
    target.lastCommitUnknown = store.sharing !== undefined
    throw error
  }
  return { target: name, ...decision, seconds: clock.monotonic() - begun }
}

/** After so many intervals without a successful poll, what the next one finds is late. */
const BLIND_INTERVALS = 3

/** What the log of events tells of a decision; undefined if that is nothing. */
function newEvents({ name, ledger, settings, clock }: Target, decision: Decision): NewEvents | undefined {
  const { lastSuccessHostTime } = ledger.sync
  const at = clock.wall()
  const seenUntil = lastSuccessHostTime ?? -Infinity
  const bodies = eventsOf({
    target: name,
    ledger: decision.ledger,
    notifications: decision.alerts.notifications,
    backfilled: at - seenUntil > BLIND_INTERVALS * settings.poll.interval,
  })
  if (bodies.length === 0) return undefined
  return { id: uuid({ msecs: Math.round(at * 1000) }), at, texts: bodies.map(writeBody) }
}

/**
 * Moves the state in memory on by what was committed: the only place that changes it.
 *
 * @param success of the poll that the commit concludes, where it does
 */
export function apply(target: Target, committed: Committed, success?: PollSuccess): Committed {
  const { ledger, alerts, times, clock } = target
  applyDelta(ledger, committed.ledger, target.keptFor)
  for (const instance of committed.alerts.changed) alerts.set(instance.key, instance)
  for (const { key } of committed.alerts.ended) alerts.delete(key)
  if (success === undefined) return committed
  times.polled = clock.monotonic()
  times.evaluated = times.polled
  times.hasPolled = true
  if (success.movesHorizon) times.swept = times.polled - Math.max(0, success.serviceTime - success.beganServiceTime)
  return committed
}
