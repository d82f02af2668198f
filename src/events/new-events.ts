import { v7 as uuid } from 'uuid'
import type { NewEvents } from '../store/store.ts'
import { eventsOf, writeBody, writeParticipants, type Changes } from './event.ts'

/**
 * The log entry of a commit; undefined if the commit has no events.
 *
 * @param at the host's clock (UNIX seconds)
 */
export function newEvents(changes: Changes, at: number): NewEvents | undefined {
  const bodies = eventsOf(changes)
  if (bodies.length === 0) return undefined
  const participants = bodies.map(writeParticipants)
  return {
    id: uuid({ msecs: Math.round(at * 1000) }),
    at,
    texts: bodies.map(writeBody),
    ...(participants.some((list) => list !== '') && { participants }),
  }
}

/** The log entry of alerts that expired without a commit of their target. */
export function expiryEvents(notifications: Changes['notifications'], at: number): NewEvents | undefined {
  const ledger = { transitions: [], corrections: [], details: [] }
  return newEvents({ ledger, notifications, backfilled: false }, at)
}
