import type { Clock } from '../clock/clock.ts'
import type { BackOff } from './delivery/back-off.ts'
import type { Round } from './delivery/deliver.ts'
import type { StoreMessage } from './message.ts'
import type { MessageReceiver } from './receiver.ts'

/** Why, since when (UNIX seconds) and for how long (seconds) the store could not be written, and whether it can be again. */
export type Outage = { problem: string; since: number; seconds: number; isOver: boolean }

export type OutageOptions = {
  /** The latest outage. Undefined before the first one, and while another daemon notifies. */
  problem: () => Outage | undefined
  clock: Clock
  /** How long the store must fail before a message is sent (seconds). Shorter outages are not notified. */
  after: () => number
}

/**
 * While the store cannot be written, what receivers were told cannot be written either. So one message is sent without that, and
 * another one when the store can be written again. A message that a receiver has not accepted by then is not sent any more.
 */
export function storeOutage({ problem, clock, after }: OutageOptions) {
  /** For each receiver, the latest message, and whether it still must be sent. */
  const states = new WeakMap<MessageReceiver, { message: StoreMessage; isDue: boolean }>()

  function update(receiver: MessageReceiver): { message: StoreMessage; isDue: boolean } | undefined {
    const [known, latest, at] = [states.get(receiver), problem(), clock.wall()]
    const note = (state: StoreMessage['state'], { problem: why, since }: { problem: string; since: number }) =>
      states.set(receiver, { message: { kind: 'store', state, problem: why, since, at }, isDue: true })
    if (known?.message.state === 'failing') {
      if (latest?.isOver !== false) note('recovered', known.message)
    } else if (latest !== undefined && latest.since !== known?.message.since && latest.seconds >= after()) {
      // The outage may have begun and ended while another message was being sent.
      note(latest.isOver ? 'recovered' : 'failing', latest)
    }
    return states.get(receiver)
  }

  return (receiver: MessageReceiver, pause: BackOff): Round => {
    // A receiver that was configured after the outage need not know about it.
    if (!states.has(receiver) && problem()?.isOver === true) Object.assign(update(receiver) ?? {}, { isDue: false })
    return async () => {
      const told = update(receiver)
      if (told?.isDue !== true || pause.left() > 0) return []
      const { message } = told
      const attempt = await pause.attempt(() => receiver.send(message))
      told.isDue = attempt.outcome === 'retried'
      return [Promise.resolve({ receiver: receiver.name, message, ...attempt })]
    }
  }
}
