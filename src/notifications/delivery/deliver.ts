import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import { hasEnded } from '../../alerts/notification.ts'
import type { Message } from '../message.ts'
import type { MessageReceiver, State, StateReceiver } from '../receiver.ts'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Telling } from '../../store/store.ts'
import type { Attempts } from './attempts.ts'
import type { Stage, Delivery } from './batch.ts'
import { alertOf } from './group.ts'

/** A message about the ends of alerts that a receiver refuses is offered again for this long after the last of them. */
const LONGEST_REFUSED_SECONDS = 86_400

/** One attempt to deliver a message. */
export function send({ name, send: deliver }: MessageReceiver, attempts: Attempts): Stage {
  return async (batch, { now }) => {
    if (batch.kind !== 'message') return batch
    const { subject, entries, message, told } = batch
    const drops = isPast(message, now)
    const ids = [...new Set(entries.map(({ content }) => alertOf(content)))]
    let posted: string | undefined
    const work = async () => {
      posted = (await deliver(message)) ?? undefined
    }
    const { mayHaveArrived, ...attempt } = await attempts.attempt(work, { subject, drops, ids })
    return {
      kind: 'attempted',
      entries,
      delivery: { receiver: name, message, ...attempt },
      mayHaveArrived,
      ...(told && { told: withPosted(told, posted) }),
    }
  }
}

function withPosted({ told, ...telling }: Telling, posted: string | undefined): Telling {
  return { ...telling, told: told && posted !== undefined ? { ...told, posted } : told }
}

/** Whether a message has only alerts that ended long ago. */
function isPast(message: Message, now: number): boolean {
  if (message.kind !== 'alerts') return false
  const { alerts, flapped } = message
  const ends = [
    ...alerts.map(({ notification }) => (hasEnded(notification) ? notification.at : now)),
    ...flapped.map(({ endedAt }) => endedAt),
  ]
  return ends.every((at) => now - at > LONGEST_REFUSED_SECONDS)
}

/** Attempts to deliver what is due for a receiver; undefined if nothing is due. */
export type Round = () => Promise<Delivery | undefined>

/**
 * Delivers to one receiver until `draining$`, at most one message a second. Retries if the store cannot be used.
 *
 * @param rounds each second, the first round that has something due is used
 */
export function deliver(
  rounds: readonly Round[],
  { clock, draining$ }: { clock: Clock; draining$: Observable<unknown> },
): Observable<Delivery> {
  async function next(): Promise<Delivery | undefined> {
    for (const round of rounds) {
      const delivery = await round().catch(onlyStoreErrors(undefined))
      if (delivery !== undefined) return delivery
    }
    return undefined
  }
  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(next),
    filter((delivery) => delivery !== undefined),
  )
}

/** Brings a receiver of the state up to date. */
export function stateRound({ name, refresh }: StateReceiver, attempts: Attempts, state: State): Round {
  return async () => {
    let work: ReturnType<typeof refresh>
    try {
      // Runs during a pause as well: an alert that ends now must get this end time.
      work = refresh(state)
    } catch (error) {
      work = () => Promise.reject(error)
    }
    if (work === undefined || attempts.isPaused()) return undefined
    const { mayHaveArrived: _, ...attempt } = await attempts.attempt(work)
    return { receiver: name, ...attempt }
  }
}
