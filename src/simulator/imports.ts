import { between, exponential, whole } from './draw.ts'
import { drawLife } from './life.ts'
import type { Life } from './life.ts'
import { put } from './queue.ts'
import { random } from './random.ts'
import { MOST_IMPORTS } from './switches.ts'
import type { Conduct, World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** An imported call began so long before it comes into the list; calls last a few hours at most. */
const AGE_DAYS = [3, 30] as const
const MOST_TOGETHER = 40

/** Plans when calls may be imported next: as often as the switch ever wants it. */
export function planImport(world: World, afterMs: number): void {
  const { imports, upcoming } = world
  const ms = afterMs + Math.ceil(exponential(imports.random, HOUR_MS / MOST_IMPORTS))
  put(upcoming, { ms, order: 1e9 + imports.count, import: imports.count })
  imports.count++
}

/** The calls that are imported now, the oldest first, if any are: each time has a stream of its own, whatever the switch says. */
export function importedLives(
  { options }: World,
  upcoming: { ms: number; import: number },
  { imports }: Pick<Conduct, 'imports'>,
): Life[] {
  const stream = random(options.seed, 'import', upcoming.import)
  if (stream() * MOST_IMPORTS >= imports) return []
  const count = whole(stream, 1, MOST_TOGETHER)
  const lives = Array.from({ length: count }, () =>
    drawLife(stream, options, upcoming.ms - Math.round(between(stream, ...AGE_DAYS) * DAY_MS)),
  )
  return lives.toSorted((a, b) => a.initiatedMs - b.initiatedMs)
}
