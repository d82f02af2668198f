import type { Clock } from '../clock/clock.ts'
import type { Attempts } from './delivery/attempts.ts'
import type { Round } from './delivery/deliver.ts'
import type { StoreMessage } from './message.ts'
import type { MessageReceiver } from './receiver.ts'

export type OutageOptions = {
  /** Why the store cannot be written, since when (UNIX seconds), and for how long (seconds); undefined where it can. */
  problem: () => { problem: string; since: number; seconds: number } | undefined
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
    const [known, current, at] = [states.get(receiver), problem(), clock.wall()]
    const isFailing = known?.message.state === 'failing'
    if (current !== undefined && !isFailing && current.seconds >= after()) {
      const { problem: why, since } = current
      states.set(receiver, { message: { kind: 'store', state: 'failing', problem: why, since, at }, isDue: true })
    }
    if (current === undefined && isFailing) {
      states.set(receiver, { message: { ...known.message, state: 'recovered', at }, isDue: true })
    }
    return states.get(receiver)
  }

  return (receiver: MessageReceiver, attempts: Attempts): Round =>
    async () => {
      const told = update(receiver)
      if (told?.isDue !== true || attempts.isPaused()) return undefined
      const { message } = told
      const { mayHaveArrived: _, ...attempt } = await attempts.attempt(() => receiver.send(message))
      told.isDue = attempt.outcome === 'retried'
      return { receiver: receiver.name, message, ...attempt }
    }
}
