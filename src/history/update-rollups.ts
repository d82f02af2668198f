import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { RollupUpdate, Store } from '../store/store.ts'
import { ALL_TARGETS, readCalls } from './read-rollups.ts'
import { addCall, beginOf, newRollup, partOf, readRollup, WIDTHS, type Rollup } from './rollup.ts'

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
  const own = new Map(numbers.map(rollupOf))
  await readCalls(store, { period: { from: quarter, to: quarter + QUARTER_HOUR_SECONDS }, numbers }, (row) =>
    addCall(own.get(Number(row['target']))!, row, QUARTER_HOUR_SECONDS),
  )
  const [, all] = rollupOf(ALL_TARGETS)
  for (const rollup of own.values()) rollup.addTo(all)
  const others = await store.rows(
    `SELECT by_labels FROM callwatch.targets CROSS JOIN callwatch.rollups
    WHERE target = number AND width = ${QUARTER_HOUR_SECONDS} AND at = $1 AND NOT target IN (${numbers.join(', ')})`,
    [quarter],
  )
  for (const row of others) readRollup(bytesOf(row['by_labels']), all)

  let parts: ReadonlyMap<number, Rollup> = new Map([...own, [ALL_TARGETS, all]])
  const rollups = savedOf(QUARTER_HOUR_SECONDS, quarter, parts)
  for (const [i, width] of WIDTHS.slice(1).entries()) {
    const part = { at: beginOf(quarter, WIDTHS[i]!), width: WIDTHS[i]! }
    const at = beginOf(quarter, width)
    const wholes = new Map([...parts.keys()].map(rollupOf))
    for (const [number, rollup] of parts) rollup.addTo(partOf(wholes.get(number)!, width, part))
    const known = await store.rows(
      `SELECT target, at, by_labels FROM callwatch.rollups
      WHERE target IN (${[...parts.keys()].join(', ')}) AND width = ${part.width} AND at >= $1 AND at < $2 AND at <> $3`,
      [at, at + width, part.at],
    )
    for (const row of known) {
      const whole = wholes.get(Number(row['target']))!
      readRollup(bytesOf(row['by_labels']), partOf(whole, width, { at: Number(row['at']), width: part.width }))
    }
    rollups.push(...savedOf(width, at, wholes))
    parts = wholes
  }
  const update: RollupUpdate = { after: Number(saves?.['n'] ?? 0), quarter, versions, rollups }
  await store.saveRollups(update)
  return { quarter, target: numbers.at(-1)! }
}

function rollupOf(number: number): readonly [number, Rollup] {
  return [number, newRollup()]
}

function savedOf(width: number, at: number, rollups: ReadonlyMap<number, Rollup>): RollupUpdate['rollups'][number][] {
  return [...rollups].map(([target, rollup]) => ({ target, width, at, encoded: rollup.encoded() }))
}

function bytesOf(column: unknown): Uint8Array {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both schemas have bytes
  return column as Uint8Array
}
