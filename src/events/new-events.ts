import { v7 as uuid } from 'uuid'
import type { NewEvents } from '../store/store.ts'
import { eventsOf, writeBody, type Changes } from './event.ts'

/**
 * What the log gets of a commit; undefined where it tells nothing.
 *
 * @param at the host's clock (UNIX seconds)
 */
export function newEvents(changes: Changes, at: number): NewEvents | undefined {
  const bodies = eventsOf(changes)
  if (bodies.length === 0) return undefined
  return { id: uuid({ msecs: Math.round(at * 1000) }), at, texts: bodies.map(writeBody) }
}

/** The same of alerts that were closed without a commit of their target. */
export function closingEvents(
  target: string,
  notifications: Changes['notifications'],
  at: number,
): NewEvents | undefined {
  return newEvents({ target, ledger: { transitions: [], corrections: [] }, notifications, backfilled: false }, at)
}
