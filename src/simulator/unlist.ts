import { write } from './ledger.ts'
import { entryAt, removeOldest, sizeOf } from './listing.ts'
import { calmed } from './turn.ts'
import type { Conduct, World } from './world.ts'

/** How many unlisted calls Get Call knows, beyond as many as are listed. */
const MAX_UNLISTED = 1000

/** When the oldest call is to leave the list, in milliseconds since 1970; Infinity for never. */
export function leavingAt(world: World, { listedSeconds, mostListed }: Conduct): number {
  if (listedSeconds === 'forever' && mostListed === 'all') return Infinity
  const size = sizeOf(world.listing)
  if (size === 0) return Infinity
  if (mostListed !== 'all' && size > mostListed) return world.nowMs
  return listedSeconds === 'forever' ? Infinity : entryAt(world.listing, 0).beganMs + listedSeconds * 1000
}

/**
 * Takes the oldest call from the list. It has no further anomalies: no list would show them.
 * Where Get Call forgets it as well, a call that is open, or has been over for less than half of its time on the list,
 * has vanished: perhaps no poll has seen its end.
 */
export function unlist(world: World, { unlisted }: Conduct): void {
  const entry = removeOldest(world.listing)
  if (entry.furtherRow) return
  const { nowMs } = world
  world.unlistedUntilMs = Math.max(world.unlistedUntilMs, entry.beganMs)
  if (unlisted === 'found') {
    if (entry.life) entry.life = calmed(entry.life, nowMs)
    write(world, 'unlisted', entry.call)
    world.unlisted.push(entry)
    forgetOldest(world)
    return
  }
  const isSeen = nowMs - entry.endedMs > (nowMs - entry.beganMs) / 2
  write(world, isSeen ? 'unlisted' : 'vanished', entry.call)
  entry.known = false
  delete entry.life
  world.entries.delete(entry.sessionId)
}

/**
 * Keeps the world bounded: calls that left the list and are over are evicted in the end. Two are checked for each that
 * leaves, so that open ones, which wait once more, do not block the others.
 */
function forgetOldest(world: World): void {
  const { unlisted, entries } = world
  for (let i = 0; i < 2 && unlisted.length > sizeOf(world.listing) + MAX_UNLISTED; i++) {
    const entry = unlisted.shift()!
    if (entry.life) unlisted.push(entry)
    else entries.delete(entry.sessionId)
  }
}
