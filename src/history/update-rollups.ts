import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { RollupUpdate, Store } from '../store/store.ts'
import { ALL_TARGETS, readCalls } from './read-rollups.ts'
import { addingTo, beginOf, encodeRollup, newRollup, readRollup, takeRollup, WIDTHS, type Rollup } from './rollup.ts'
import { takeCall } from './sums.ts'

/** So long after its end a quarter of an hour is added up: by then most of its calls were noticed (seconds). */
const SETTLING_SECONDS = 300
/** Targets whose calls are added up at a time. */
const MAX_TARGETS = 1000

/** A target's quarter of an hour (UNIX seconds). */
export type RollupPosition = { quarter: number; target: number }

/**
 * Adds up a quarter of an hour whose rollups are stale, the oldest one that has ended, from its calls' rows; with it what is
 * longer, and all targets together.
 *
 * @param now UNIX seconds
 * @param after what comes before it was added up just now
 * @returns how far all is added up; undefined where nothing was left
 * @throws {StoreError} when the store cannot be used now
 */
export async function updateRollups(
  store: RowReader & Pick<Store, 'saveRollups'>,
  now: number,
  after: RollupPosition = { quarter: -1, target: -1 },
): Promise<RollupPosition | undefined> {
  const [saves] = await store.rows('SELECT n FROM callwatch.rollup_saves', [])
  const newestEnded = Math.floor(now) - QUARTER_HOUR_SECONDS - SETTLING_SECONDS
  const left = await store.rows(
    `SELECT target, quarter, version FROM callwatch.stale_rollups
    WHERE (quarter, target) > ($1, $2) AND quarter <= $3 ORDER BY quarter, target LIMIT ${MAX_TARGETS}`,
    [after.quarter, after.target, newestEnded],
  )
  const stale = left.filter((row) => row['quarter'] === left[0]!['quarter'])
  if (stale.length === 0) return undefined
  const quarter = Number(stale[0]!['quarter'])
  const versions = stale.map(({ target, version }) => ({ target: Number(target), version: Number(version) }))
  const numbers = versions.map(({ target }) => target)
  const own = new Map(numbers.map((number) => [number, newRollup(quarter)]))
  await readCalls(store, { period: { from: quarter, to: quarter + QUARTER_HOUR_SECONDS }, numbers }, (row) =>
    takeCall(addingTo(own.get(Number(row['target']))!), row),
  )
  const all = newRollup(quarter)
  for (const rollup of own.values()) takeRollup(addingTo(all), rollup)
  const others = await store.rows(
    `SELECT by_labels FROM callwatch.targets CROSS JOIN callwatch.rollups
    WHERE target = number AND width = ${QUARTER_HOUR_SECONDS} AND at = $1 AND NOT target IN (${numbers.join(', ')})`,
    [quarter],
  )
  for (const row of others) readRollup(addingTo(all), row['by_labels'])

  let parts = new Map([...own, [ALL_TARGETS, all]])
  const rollups = [...savedOf(QUARTER_HOUR_SECONDS, parts)]
  for (const [i, width] of WIDTHS.slice(1).entries()) {
    const [at, before] = [beginOf(quarter, width), WIDTHS[i]!]
    const known = await store.rows(
      `SELECT target, by_labels FROM callwatch.rollups
      WHERE target IN (${[...parts.keys()].join(', ')}) AND width = ${before} AND at >= $1 AND at < $2 AND at <> $3`,
      [at, at + width, beginOf(quarter, before)],
    )
    const wholes = new Map<number, Rollup>()
    for (const [number, part] of parts) {
      const whole = newRollup(at)
      takeRollup(addingTo(whole), part)
      wholes.set(number, whole)
    }
    for (const row of known) readRollup(addingTo(wholes.get(Number(row['target']))!), row['by_labels'])
    rollups.push(...savedOf(width, wholes))
    parts = wholes
  }
  await store.saveRollups({ after: Number(saves?.['n'] ?? 0), quarter, versions, rollups })
  return { quarter, target: numbers.at(-1)! }
}

function savedOf(width: number, rollups: ReadonlyMap<number, Rollup>): RollupUpdate['rollups'][number][] {
  return [...rollups].map(([target, rollup]) => ({ target, width, at: rollup.at, encoded: encodeRollup(rollup) }))
}
