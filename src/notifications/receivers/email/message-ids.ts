import { createHash } from 'node:crypto'
import type { Message } from '../../message.ts'

/** A message belongs to at most this many threads, whatever the number of its alerts. */
const MAX_REFERENCES = 20

/**
 * The `Message-ID` of a message, and the threads that it belongs to. A further attempt has the same id if it is about the
 * same changes, so that a mail server that got both can drop one. All messages about one firing of an alert refer to the same
 * id, which no message has. So they form one thread, whichever of them arrive, also if a message contains other alerts.
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
          thread: [firingSince, target, key],
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
