import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { Sql, Step, Value } from './sql.ts'
import { onlyStoreErrors } from './store-error.ts'
import type { RollupStore } from './store.ts'
import { insertInto, keyIsGiven, replacing } from './tables.ts'

const mark = (rows: string) => `
  INSERT INTO callwatch.stale_rollups AS known (quarter, target, version) SELECT quarter, target, 1 FROM ${rows} WHERE true
  ON CONFLICT (quarter, target) DO UPDATE SET version = known.version + 1`
const MARK = mark('given(target int, quarter bigint)')
const MARK_ALL = mark(
  `(SELECT at AS quarter, target FROM callwatch.rollups WHERE target = $1 AND width = ${QUARTER_HOUR_SECONDS}) AS known_before`,
)

/**
 * Fails if another save has changed the rows that this one was computed from, even if that save was running when they were read.
 */
const COUNT = `
  INSERT INTO callwatch.rollup_saves AS known (id, n) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = known.n + 1`
/** Does not wait for commits that change rows now. They mark the quarter as stale again. */
const FRESH = `
  SELECT 1 FROM given(quarter bigint, target int, version bigint) JOIN callwatch.stale_rollups USING (quarter, target, version)
  FOR UPDATE OF stale_rollups SKIP LOCKED`
/** At most a thousand targets at a time. */
const STALE = `
  SELECT target, quarter, version FROM callwatch.stale_rollups
  WHERE (quarter, target) > ($1, $2) AND quarter <= $3 ORDER BY quarter, target LIMIT 1000`
const UNMARK = `DELETE FROM callwatch.stale_rollups WHERE ${keyIsGiven('stale_rollups')}`
const ENCODED = ['by_labels', 'without_labels']
const SAVE = insertInto('rollups', ['target', 'width', 'at', ...ENCODED], replacing('rollups', ENCODED))
const DELETE = `DELETE FROM callwatch.rollups WHERE ${keyIsGiven('rollups')}`

/** Marks quarters whose calls change as stale. @param rows the number of the target, and the quarter */
export function markStale(rows: readonly (readonly Value[])[]): Step {
  return { statement: MARK, given: rows }
}

/**
 * Marks the rollups of all targets as stale before all calls of a target are deleted, even rollups that are being computed now.
 */
export function markAllStale(number: number): Step[] {
  return [{ statement: MARK_ALL, args: [number] }, { statement: COUNT }]
}

export function rollups(sql: Sql): RollupStore {
  return {
    staleRollups: async (after, until) => {
      const [saves] = await sql.all('SELECT n FROM callwatch.rollup_saves WHERE id = 1')
      const left = await sql.all(STALE, [after.quarter, after.target, until])
      return { saves: Number(saves?.['n'] ?? 0), stale: left.filter((row) => row['quarter'] === left[0]!['quarter']) }
    },
    saveRollups: async ({ after, quarter, versions, rollups: all }) => {
      const saved = all.flatMap(({ target, width, at, encoded }) =>
        encoded === undefined ? [] : [[target, width, at, encoded.byLabels, encoded.withoutLabels]],
      )
      const deleted = all.filter(({ encoded }) => encoded === undefined)
      const steps: Step[] = [
        { statement: `${COUNT} WHERE known.n = $1`, args: [after], fence: 1 },
        { statement: FRESH, given: versions.map((one) => [quarter, one.target, one.version]), fence: versions.length },
        { statement: UNMARK, given: versions.map(({ target }) => [quarter, target]) },
        { statement: SAVE, given: saved },
        { statement: DELETE, given: deleted.map(({ target, width, at }) => [target, width, at]) },
      ]
      await sql.batch(steps).catch(onlyStoreErrors(undefined, 'stale'))
    },
  }
}
