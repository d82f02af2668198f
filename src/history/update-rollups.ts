import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { RollupUpdate, Store } from '../store/store.ts'
import { ALL_TARGETS, callsIn } from './read-rollups.ts'
import { beginOf, encodeRollup, newRollup, readRollup, takeRollup, WIDTHS, type Rollup } from './rollup.ts'
import { takeCall } from './sums.ts'

/** How long after its end a quarter of an hour is added up. By then most of its calls were noticed (seconds). */
const SETTLING_SECONDS = 300
/** How many targets are added up at a time. */
const MAX_TARGETS = 1000

/** A quarter of an hour of a target (UNIX seconds). */
export type RollupPosition = { quarter: number; target: number }

/**
 * Adds up the oldest quarter of an hour that has ended and whose rollups are stale, from its calls' rows. Also updates the
 * longer rollups and those of all targets together.
 *
 * @param now UNIX seconds
 * @param after everything up to this position was just added up
 * @returns the position up to which everything is added up; undefined if nothing was left
 * @throws {StoreError} if the store cannot be used now
 */
export async function updateRollups(
  store: RowReader & Pick<Store, 'saveRollups'>,
  now: number,
  after: RollupPosition = { quarter: -1, target: -1 },
): Promise<RollupPosition | undefined> {
  const [saves] = await store.rows('SELECT n FROM callwatch.rollup_saves', [])
  const left = await store.rows(
    `SELECT target, quarter, version FROM callwatch.stale_rollups
    WHERE (quarter, target) > ($1, $2) AND quarter <= $3 ORDER BY quarter, target LIMIT ${MAX_TARGETS}`,
    [after.quarter, after.target, Math.floor(now) - QUARTER_HOUR_SECONDS - SETTLING_SECONDS],
  )
  const stale = left.filter((row) => row['quarter'] === left[0]!['quarter'])
  if (stale.length === 0) return undefined
  const quarter = Number(stale[0]!['quarter'])
  const versions = stale.map(({ target, version }) => ({ target: Number(target), version: Number(version) }))
  const numbers = versions.map(({ target }) => target)
  let rollups = await quartersOf(store, quarter, numbers)
  const saved: RollupUpdate['rollups'][number][] = []
  for (const [i, width] of WIDTHS.entries()) {
    const [at, before] = [beginOf(quarter, width), WIDTHS[i - 1]]
    if (before !== undefined) {
      const known = await store.rows(
        `SELECT target, by_labels FROM callwatch.rollups
        WHERE target IN (${[...rollups.keys()].join(', ')}) AND width = ${before} AND at >= $1 AND at < $2 AND at <> $3`,
        [at, at + width, beginOf(quarter, before)],
      )
      const wholes = newRollups(rollups.keys(), at)
      for (const [target, part] of rollups) takeRollup(wholes.get(target)!.take, part)
      for (const row of known) readRollup(wholes.get(Number(row['target']))!.take, row['by_labels'])
      rollups = wholes
    }
    for (const [target, rollup] of rollups) saved.push({ target, width, at, encoded: encodeRollup(rollup) })
  }
  await store.saveRollups({ after: Number(saves?.['n'] ?? 0), quarter, versions, rollups: saved })
  return { quarter, target: numbers.at(-1)! }
}

/** The rollups of a quarter of an hour, added up from its calls: of these targets, and of all targets together. */
async function quartersOf(store: RowReader, quarter: number, numbers: readonly number[]) {
  const quarters = newRollups([ALL_TARGETS, ...numbers], quarter)
  const all = quarters.get(ALL_TARGETS)!
  for await (const rows of callsIn(store, { from: quarter, to: quarter + QUARTER_HOUR_SECONDS }, { numbers }))
    for (const row of rows) takeCall(quarters.get(Number(row['target']))!.take, row)
  for (const number of numbers) takeRollup(all.take, quarters.get(number)!)
  const others = await store.rows(
    `SELECT by_labels FROM callwatch.targets CROSS JOIN callwatch.rollups
    WHERE target = number AND width = ${QUARTER_HOUR_SECONDS} AND at = $1 AND NOT target IN (${numbers.join(', ')})`,
    [quarter],
  )
  for (const row of others) readRollup(all.take, row['by_labels'])
  return quarters
}

function newRollups(numbers: Iterable<number>, at: number): ReadonlyMap<number, Rollup> {
  return new Map(Iterator.from(numbers).map((number) => [number, newRollup(at)]))
}
