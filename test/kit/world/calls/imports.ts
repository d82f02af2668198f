import { write } from '../../../../src/simulator/calls/ledger.ts'
import { drawLife, type Life } from '../../../../src/simulator/calls/life.ts'
import { between, exponential, random, whole } from '../../../../src/simulator/random.ts'
import { addEntry, plan, type World } from '../../../../src/simulator/calls/world.ts'
import { addBeside, type WorldState } from '../state.ts'
import { allOf, MAX_IMPORTS } from '../switches.ts'
import { withMid } from './sessions.ts'
import { turnedCourse, type TurnedLife } from './turn.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** An imported call began so long before it comes into the list; calls last a few hours at most. */
const IMPORT_AGE_DAYS = [3, 30] as const
const MAX_IMPORTED_TOGETHER = 40

/** Plans when calls may be imported next, and after that: as often as the switch can ever ask for. */
export function planImport(state: WorldState, world: World, afterMs: number): void {
  const ms = afterMs + Math.ceil(exponential(state.streams.imports, HOUR_MS / MAX_IMPORTS))
  const number = state.imports++
  const order = 1e9 + number
  plan(world, {
    ms,
    order,
    happen: (switches) => {
      planImport(state, world, ms)
      const { imports, mids } = allOf(switches)
      for (const life of importedLives(world, { ms, number }, imports))
        bringIn(state, world, withMid(life, { mids }, world.options.seed), order)
    },
  })
}

/** The calls that are imported now, if any, the oldest first: each time has a stream of its own, whatever the switch says. */
function importedLives({ options }: World, { ms, number }: { ms: number; number: number }, imports: number): Life[] {
  const stream = random(options.seed, 'import', number)
  if (stream() * MAX_IMPORTS >= imports) return []
  const count = whole(stream, 1, MAX_IMPORTED_TOGETHER)
  const lives = Array.from({ length: count }, () =>
    drawLife(stream, options, ms - Math.round(between(stream, ...IMPORT_AGE_DAYS) * DAY_MS)),
  )
  return lives.toSorted((a, b) => a.initiatedMs - b.initiatedMs)
}

/** A call that ended long ago comes into the list. */
function bringIn(state: WorldState, world: World, life: TurnedLife, order: number): void {
  const entry = addEntry(world, life, order, turnedCourse(life), life.endedMs)
  addBeside(state, entry, life, world.nowMs)
  write(world, 'imported', entry)
  delete entry.course
}
