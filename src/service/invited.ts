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
  let joined = 0
  for (const { uid, isJoined } of entries) {
    const hasJoined = flagOf(isJoined)
    if (!isUid(uid) || hasJoined === undefined) return undefined
    if (uid === initiator || people.get(uid) === true) continue
    people.set(uid, hasJoined)
    if (hasJoined) joined += 1
  }
  return { joined, absent: people.size - joined }
}

const isUid = (value: unknown) => typeof value === 'string' && value !== ''
