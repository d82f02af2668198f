import type { MessageReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import type { Stage } from './batch.ts'

/** One attempt to deliver a message. */
export function send({ name, send: deliver }: MessageReceiver, attempts: Attempts): Stage {
  return async (batch) => {
    if (batch.kind !== 'message') return batch
    const { entries, message } = batch
    const { mayHaveArrived, ...attempt } = await attempts.attempt(() => deliver(message))
    return { kind: 'attempted', entries, delivery: { receiver: name, message, ...attempt }, mayHaveArrived }
  }
}
