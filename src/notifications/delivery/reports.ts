import type { Clock } from '../../clock/clock.ts'
import type { DigestMessage, PastMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Delivery, Round } from './deliver.ts'
import type { Notified } from './notified.ts'
import type { Pauses } from './pauses.ts'

/** A report that each receiver gets once, by its keys. It became due at a time (UNIX seconds by the host's clock): who was added later gets it not. */
export type Report = {
  keys: readonly string[]
  due: number
  /** When it is no longer sent (UNIX seconds). */
  until: number
  message: DigestMessage | PastMessage
}

/** How long it is remembered that a receiver got a report (seconds): longer than any is due. */
const KEPT_SECONDS = 2 * 86_400

/** Whether a receiver got what has this key. */
export const hasGot = (notified: Notified, key: string) => notified.state().reports.some(({ id }) => id === key)

/**
 * Sends the reports that are due and that the receiver has not got, one a round.
 *
 * @param reports those that are due, the oldest first
 */
export function reportRound(
  receiver: MessageReceiver,
  pauses: Pauses,
  options: { clock: Clock; reports: () => readonly Report[]; notified: () => Promise<Notified> },
): Round {
  const { clock, reports } = options
  const { name } = receiver
  let isSending = false

  async function send({ keys, message }: Report, notified: Notified): Promise<Delivery> {
    isSending = true
    const attempt = await pauses.reports.attempt(() => receiver.send(message))
    isSending = false
    if (attempt.outcome === 'sent') {
      const { reports: got, ...state } = notified.state()
      const kept = got.filter(({ at }) => clock.wall() - at < KEPT_SECONDS)
      await notified.set({ ...state, reports: [...kept, ...keys.map((id) => ({ id, at: clock.wall() }))] })
    }
    return { receiver: name, message, ...attempt }
  }

  return async () => {
    const all = reports()
    if (all.length === 0 || isSending) return []
    if (pauses.whole.left() > 0 || pauses.reports.left() > 0) return []
    const notified = await options.notified()
    const isNews = (key: string) => !hasGot(notified, key)
    const next = all.find(({ keys, due }) => due >= notified.state().added && keys.some(isNews))
    return next === undefined ? [] : [send(next, notified)]
  }
}
