import { callAt } from './call-at.ts'
import { write } from './ledger.ts'
import { drawLife } from './life.ts'
import type { Life } from './life.ts'
import { insert } from './listing.ts'
import type { Entry } from './listing.ts'
import { random } from './random.ts'
import type { World } from './world.ts'

/** Within so long an earlier call of the same id may count where it is seen first. */
const LATELY_MS = 24 * 3_600_000

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
  if (startsEarlierMs < LATELY_MS) write(world, 'repeated', entry.call)
}
