import { newPauses } from '../../notifications/delivery/pauses.ts'
import type { Send } from '../../notifications/receiver.ts'
import { bulletinLine } from '../../notifications/text/bulletin.ts'
import type { ReceiverState } from '../../store/store.ts'
import type { DaemonParts } from '../parts.ts'

/** The log as a receiver of reports. What it has got is not stored. */
export function logOfReports({ clock, log }: DaemonParts) {
  const now = clock.wall()
  let state: ReceiverState = { added: now, cursor: now, reports: {}, setUps: {} }
  const notified = { state: () => state, set: async (next: ReceiverState) => void (state = next) }
  const send: Send = async (message) => {
    if (message.kind === 'report') log.info(bulletinLine(message))
  }
  return { receiver: { name: 'log', send }, pauses: newPauses(clock), notified: async () => notified }
}
