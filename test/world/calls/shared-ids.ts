import { courseOf } from '../../../src/simulator/calls/call-at.ts'
import { write } from '../../../src/simulator/calls/ledger.ts'
import { drawLife, type Life } from '../../../src/simulator/calls/life.ts'
import { chance, random, whole } from '../../../src/simulator/random.ts'
import { enlist, type Entry, type World } from '../../../src/simulator/calls/world.ts'
import { besideOf, reach, type WorldState } from '../state.ts'
import type { Switches } from '../switches.ts'

/** Within so long an earlier call of the same id may count where it is seen first. */
const RECENT_MS = 24 * 3_600_000

/**
 * The call with the id of one that was over before the service started, and in the place of its row (switch
 * `reusedIds`); most often the call as it is.
 */
export function withReusedId(state: WorldState, world: World, life: Life, { reusedIds }: Switches): Life {
  const { options, listing } = world
  const { startMs } = state
  if (reusedIds === 0 || life.initiatedMs <= startMs) return life
  const stream = random(options.seed, 'reused id', life.sessionId)
  if (!chance(stream, reusedIds)) return life
  const over = listing.filter((entry) => {
    const beside = besideOf(state, entry)
    return !entry.course && !beside.furtherRow && beside.life.endedMs < startMs - 1000
  })
  const earlier = over[whole(stream, 0, Math.max(0, over.length - 1))]
  if (!earlier) return life
  listing.splice(listing.indexOf(earlier), 1)
  reach(state, 'list.reused_id')
  const { sessionId, type, mode, receiverType } = earlier.call
  return { ...life, sessionId, type, mode, receiverType }
}

/** Adds the other row of a call's id to the list. Get Call knows the call alone. */
export function addFurtherRow(state: WorldState, world: World, entry: Entry): void {
  const { life, ...beside } = besideOf(state, entry)
  const { startsEarlierMs } = life.otherRow!
  state.rows++
  const { course: _course, text: _text, ...plain } = { ...entry, order: entry.order + 0.25 }
  const furtherRow = { ...beside, row: state.rows, furtherRow: true } as const
  if (startsEarlierMs === 0) {
    state.beside.set(plain, { ...furtherRow, life, sameAs: entry })
    enlist(world, plain)
    return
  }
  const { sessionId, type, mode, receiverType } = life
  const stream = random(world.options.seed, 'further row', sessionId)
  const drawn = drawLife(stream, world.options, life.initiatedMs - startsEarlierMs)
  const { hasStartAlone = false } = life
  const earlier = { ...drawn, hasStartAlone, endedMs: Math.min(drawn.endedMs, life.initiatedMs - 1) }
  const call = { ...courseOf(earlier).at(earlier.endedMs), sessionId, type, mode, receiverType }
  const row = { ...plain, beganMs: earlier.initiatedMs, call }
  state.beside.set(row, { ...furtherRow, life: { ...earlier, ...(life.shown && { shown: life.shown }) } })
  enlist(world, row)
  if (startsEarlierMs < RECENT_MS) write(world, 'repeated', entry.call)
}
