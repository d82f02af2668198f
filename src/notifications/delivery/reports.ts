import type { Clock } from '../../clock/clock.ts'
import type { DigestMessage, PastMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Round } from './deliver.ts'
import type { Notified } from './notified.ts'
import type { Pauses } from './pauses.ts'

/** A report that each receiver gets once, by its keys. It became due at a time (UNIX seconds by the host's clock): who was added later gets it not. */
export type Report = { keys: readonly string[]; due: number; message: DigestMessage | PastMessage }

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
  return async () => {
    const due = reports()
    if (due.length === 0 || receiver.isLikeAlertmanager === true || pauses.whole.left() > 0) return []
    const notified = await options.notified()
    const { reports: got, ...state } = notified.state()
    const isNews = (key: string) => !hasGot(notified, key)
    const next = due.find(({ keys, due: at }) => at >= state.added && keys.some(isNews))
    if (next === undefined || pauses.reports.left() > 0) return []
    const { keys, message } = next
    const attempt = await pauses.reports.attempt(() => receiver.send(message))
    const kept = got.filter(({ at }) => clock.wall() - at < KEPT_SECONDS)
    if (attempt.outcome === 'sent')
      await notified.set({ ...state, reports: [...kept, ...keys.map((id) => ({ id, at: clock.wall() }))] })
    return [Promise.resolve({ receiver: name, message, ...attempt })]
  }
}
