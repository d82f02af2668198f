import { QUARTER } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { RollupUpdate, Store } from '../store/store.ts'
import { ALL_TARGETS, hourOf, readCalls } from './read-rollups.ts'
import { addCall, HOUR, newRollup, quarterIn, readRollup, type Rollup } from './rollup.ts'

/** So long after its end a quarter of an hour is added up: by then most of its calls were noticed (seconds). */
const SETTLING = 300
/** Targets whose calls are added up at a time. */
const MAX_TARGETS = 1000

/** A target's quarter of an hour (UNIX seconds). */
export type RollupPosition = { quarter: number; target: number }

/**
 * Adds up a quarter of an hour whose rollups are stale, the oldest one that is over, from its calls' rows; with it its hour,
 * and both of all targets.
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
  const over = Math.floor(now) - QUARTER - SETTLING
  const left = await store.rows(
    `SELECT target, quarter, version FROM callwatch.stale_rollups
    WHERE (quarter, target) > ($1, $2) AND quarter <= $3 ORDER BY quarter, target LIMIT ${MAX_TARGETS}`,
    [after.quarter, after.target, over],
  )
  const stale = left.filter((row) => row['quarter'] === left[0]!['quarter'])
  if (stale.length === 0) return undefined
  const quarter = Number(stale[0]!['quarter'])
  const versions = stale.map(({ target, version }) => ({ target: Number(target), version: Number(version) }))
  const numbers = versions.map(({ target }) => target)
  const hour = hourOf(quarter)
  const [quarters, hours] = [new Map(numbers.map(rollupOf)), new Map(numbers.map(rollupOf))]
  const [allOfQuarter, allOfHour] = [newRollup(), newRollup()]
  await readCalls(store, { period: { from: quarter, to: quarter + QUARTER }, numbers }, (row) =>
    addCall(quarters.get(Number(row['target']))!, row, QUARTER),
  )
  for (const [number, rollup] of quarters) {
    const bytes = rollup.encoded()?.data
    if (bytes === undefined) continue
    readRollup(bytes, allOfQuarter)
    readRollup(bytes, quarterIn(hours.get(number)!, (quarter - hour) / QUARTER))
  }
  const known = await store.rows(
    `SELECT target, at, data FROM callwatch.targets CROSS JOIN callwatch.rollups
    WHERE target = number AND width = ${QUARTER} AND at = $1 AND NOT target IN (${numbers.join(', ')})
    UNION ALL SELECT target, at, data FROM callwatch.rollups
    WHERE target IN (${[ALL_TARGETS, ...numbers].join(', ')}) AND width = ${QUARTER} AND at >= $2 AND at < $3 AND at <> $1`,
    [quarter, hour, hour + HOUR],
  )
  for (const { target, at, data } of known) {
    const number = Number(target)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both schemas have bytes
    const bytes = data as Uint8Array
    const of = number === ALL_TARGETS ? allOfHour : hours.get(number)
    if (of === undefined) readRollup(bytes, allOfQuarter)
    else readRollup(bytes, quarterIn(of, (Number(at) - hour) / QUARTER))
  }
  const all = allOfQuarter.encoded()?.data
  if (all !== undefined) readRollup(all, quarterIn(allOfHour, (quarter - hour) / QUARTER))
  const saved = (width: number, at: number, rollups: Iterable<readonly [number, Rollup]>) =>
    [...rollups].map(([target, rollup]) => ({ target, width, at, encoded: rollup.encoded() }))
  const update: RollupUpdate = {
    after: Number(saves?.['n'] ?? 0),
    quarter,
    versions,
    rollups: [
      ...saved(QUARTER, quarter, [...quarters, [ALL_TARGETS, allOfQuarter]]),
      ...saved(HOUR, hour, [...hours, [ALL_TARGETS, allOfHour]]),
    ],
  }
  await store.saveRollups(update)
  return { quarter, target: numbers.at(-1)! }
}

function rollupOf(number: number): readonly [number, Rollup] {
  return [number, newRollup()]
}
