import type { Invited } from '../ledger/call.ts'
import { flagOf } from './flag.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * How many of the people whom a call invited joined it. A person has an entry for each device, and one each time that they join.
 *
 * @param entries of its list of participants
 * @returns undefined if there is no entry or no initiator, or if an entry does not say whose it is, or whether they joined: numbers
 * without it would look like a correction
 */
export function invitedIn(initiator: unknown, entries: readonly Item[] = []): Invited | undefined {
  if (!isUid(initiator) || entries.length === 0) return undefined
  const people = new Map<unknown, boolean>()
  for (const { uid, isJoined } of entries) {
    const hasJoined = flagOf(isJoined)
    if (!isUid(uid) || hasJoined === undefined) return undefined
    people.set(uid, hasJoined || people.get(uid) === true)
  }
  people.delete(initiator)
  const joined = people.values().reduce((sum, hasJoined) => sum + (hasJoined ? 1 : 0), 0)
  return { joined, absent: people.size - joined }
}

const isUid = (value: unknown) => typeof value === 'string' && value !== ''
