import type { Clock } from '../clock/clock.ts'
import type { Attempts } from './delivery/attempts.ts'
import type { Round } from './delivery/deliver.ts'
import type { StoreMessage } from './message.ts'
import type { MessageReceiver } from './receiver.ts'

/** Why the store could not be written, since when (UNIX seconds), for how long (seconds), and whether it can be by now. */
export type Outage = { problem: string; since: number; seconds: number; isOver: boolean }

export type OutageOptions = {
  /** The latest one; undefined before the first, and where another daemon notifies. */
  problem: () => Outage | undefined
  clock: Clock
  /** The store must have failed for so long (seconds): a short problem does not count. */
  after: () => number
}

/**
 * While the store cannot be written, nothing can be enqueued in its outbox: one message is sent without it, and another when
 * the store can be written again. What a receiver has not accepted by then is not sent any more.
 */
export function storeOutage({ problem, clock, after }: OutageOptions) {
  /** What each receiver was last told, or is to be told yet. */
  const states = new WeakMap<MessageReceiver, { message: StoreMessage; isDue: boolean }>()

  function update(receiver: MessageReceiver): { message: StoreMessage; isDue: boolean } | undefined {
    const [known, latest, at] = [states.get(receiver), problem(), clock.wall()]
    const note = (state: StoreMessage['state'], { problem: why, since }: { problem: string; since: number }) =>
      states.set(receiver, { message: { kind: 'store', state, problem: why, since, at }, isDue: true })
    if (known?.message.state === 'failing') {
      if (latest?.isOver !== false) note('recovered', known.message)
    } else if (latest !== undefined && latest.since !== known?.message.since && latest.seconds >= after()) {
      // It may have begun and ended while another message was on its way.
      note(latest.isOver ? 'recovered' : 'failing', latest)
    }
    return states.get(receiver)
  }

  return (receiver: MessageReceiver, attempts: Attempts): Round => {
    // A receiver that is configured later need not know of it.
    if (!states.has(receiver) && problem()?.isOver === true) Object.assign(update(receiver) ?? {}, { isDue: false })
    return async () => {
      const told = update(receiver)
      if (told?.isDue !== true || attempts.isPaused()) return undefined
      const { message } = told
      const { mayHaveArrived: _, ...attempt } = await attempts.attempt(() => receiver.send(message))
      told.isDue = attempt.outcome === 'retried'
      return { receiver: receiver.name, message, ...attempt }
    }
  }
}
