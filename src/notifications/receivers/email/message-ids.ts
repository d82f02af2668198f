import { createHash } from 'node:crypto'
import type { Message } from '../../message.ts'

/** More alerts than this in a message do not join its thread. */
const MAX_REFERENCES = 20

/**
 * The `Message-ID` of a message, and the threads that it belongs to. Another attempt has the same id as long as it is about
 * the same changes: a mail server that got both can drop one. All messages on one firing of an alert refer to the same id,
 * which no message has: so they are one thread, whichever of them arrive, and in a message with other alerts too.
 */
export function idsOf(
  message: Message,
  { receiver, domain }: { receiver: string; domain: string },
): { id: string; references: string[] } {
  const idOf = (...parts: unknown[]) =>
    `<${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}@${domain}>`
  switch (message.kind) {
    case 'alerts': {
      const { alerts, flapped, silenced } = message
      const changes = [
        ...alerts.map(({ notification: { target, key, kind, at, firingSince }, flaps }) => ({
          change: [target, key, kind, at, flaps],
          thread: [target, key, firingSince],
        })),
        ...flapped.map(({ notification: { target, key, firingSince }, times, endedAt }) => ({
          change: [target, key, 'flapped', endedAt, times],
          thread: [target, key, firingSince],
        })),
      ]
      return {
        id: idOf(receiver, ...(changes.length === 0 ? [silenced] : changes.map(({ change }) => change))),
        references: [...new Set(changes.slice(0, MAX_REFERENCES).map(({ thread }) => idOf(receiver, ...thread)))],
      }
    }
    case 'digest':
      return { id: idOf(receiver, 'digest', message.day, message.timezone), references: [] }
    default: {
      const { state, since } = message
      return { id: idOf(receiver, 'store', state, since), references: [idOf(receiver, 'store', since)] }
    }
  }
}
