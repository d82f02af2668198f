import { callAt } from './call-at.ts'
import { reach, write } from './ledger.ts'
import { drawLife, type Life } from './life.ts'
import { entriesOf, insert, remove, type Entry } from './listing.ts'
import { chance, random, whole } from './random.ts'
import type { Conduct, World } from './world.ts'

/** Within so long an earlier call of the same id may count where it is seen first. */
const RECENT_MS = 24 * 3_600_000

/**
 * The call with the id of one that was over before the service started, and in the place of its row (switch
 * `reusedIds`); most often the call as it is.
 */
export function withReusedId({ options, listing, startMs, reached }: World, life: Life, conduct: Conduct): Life {
  if (conduct.reusedIds === 0 || life.initiatedMs <= startMs) return life
  const stream = random(options.seed, 'reused id', life.sessionId)
  if (!chance(stream, conduct.reusedIds)) return life
  const over = entriesOf(listing).filter((entry) => !entry.life && !entry.furtherRow && entry.endedMs < startMs - 1000)
  const earlier = over[whole(stream, 0, Math.max(0, over.length - 1))]
  if (!earlier) return life
  remove(listing, earlier)
  reach(reached, 'list.reused_id')
  const { sessionId, type, mode, receiverType } = earlier.call
  return { ...life, sessionId, type, mode, receiverType }
}

/** Adds the other row of a call's id to the list. Get Call knows the call alone. */
export function addFurtherRow(world: World, entry: Entry, { otherRow, ...life }: Life): void {
  const { startsEarlierMs } = otherRow!
  world.rows++
  const row = { ...entry, furtherRow: true as const, row: world.rows, order: entry.order + 0.25 }
  delete row.life
  delete row.text
  if (startsEarlierMs === 0) {
    insert(world.listing, { ...row, sameAs: entry })
    return
  }
  const { type, mode, receiverType } = life
  const stream = random(world.options.seed, 'further row', life.sessionId)
  const earlier = drawLife(stream, world.options, life.initiatedMs - startsEarlierMs)
  const endedMs = Math.min(earlier.endedMs, life.initiatedMs - 1)
  const call = { ...callAt({ ...earlier, endedMs }, endedMs), sessionId: life.sessionId, type, mode, receiverType }
  insert(world.listing, { ...row, beganMs: earlier.initiatedMs, endedMs, call })
  if (startsEarlierMs < RECENT_MS) write(world, 'repeated', entry.call)
}
