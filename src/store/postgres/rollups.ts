import { QUARTER_HOUR_SECONDS } from '../../ledger/usage.ts'
import type { RollupUpdate } from '../store.ts'
import type { Session } from './connection.ts'

/** Marks rollups of quarters whose calls change. @param rows selects quarters and targets, as `quarter` and `target` */
export function markStale(rows: string): string {
  return `INSERT INTO callwatch.stale_rollups AS known (quarter, target, version) SELECT quarter, target, 1 FROM ${rows} AS changed
    ON CONFLICT (quarter, target) DO UPDATE SET version = known.version + 1`
}

const MARK_ALL_STALE = markStale(
  `(SELECT at AS quarter, target FROM callwatch.rollups
  WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND width = ${QUARTER_HOUR_SECONDS})`,
)

/** No other save has changed what this one was added up from: not one that was on its way when that was read, either. */
const COUNT_RESET = `
  INSERT INTO callwatch.rollup_saves AS known (id, n) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = known.n + 1`
const COUNT_SAVE = `${COUNT_RESET} WHERE known.n = $1::bigint RETURNING n`

/** What a commit changes at this moment is not waited for: it is stale again. */
const FRESH = `
  SELECT target FROM callwatch.stale_rollups JOIN unnest($2::int[], $3::bigint[]) AS given (target, version) USING (target, version)
  WHERE quarter = $1::bigint FOR UPDATE OF stale_rollups SKIP LOCKED`

const UNMARK = 'DELETE FROM callwatch.stale_rollups WHERE quarter = $1::bigint AND target = ANY ($2::int[])'

const SAVE = `
  INSERT INTO callwatch.rollups (target, width, at, by_labels, without_labels)
  SELECT target, width, at, decode(by_labels, 'hex'), decode(without_labels, 'hex')
  FROM unnest($1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[]) AS given (target, width, at, by_labels, without_labels)
  ON CONFLICT (target, width, at) DO UPDATE SET by_labels = excluded.by_labels, without_labels = excluded.without_labels`

const DELETE = `
  DELETE FROM callwatch.rollups USING unnest($1::int[], $2::int[], $3::bigint[]) AS given (target, width, at)
  WHERE rollups.target = given.target AND rollups.width = given.width AND rollups.at = given.at`

/** Saves rollups, unless one of them is stale again, or others were saved since. Within a transaction. */
export async function saveRollups(
  { run }: Session,
  { after, quarter, versions, rollups }: RollupUpdate,
): Promise<void> {
  if ((await run(COUNT_SAVE, [after])).length === 0) return
  const targets = versions.map(({ target }) => target)
  const fresh = await run(FRESH, [quarter, targets, versions.map(({ version }) => version)])
  if (fresh.length < versions.length) return
  const saved = rollups.flatMap(({ encoded, ...key }) => (encoded === undefined ? [] : { ...key, ...encoded }))
  const deleted = rollups.filter(({ encoded }) => encoded === undefined)
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const keys = (of: readonly Omit<RollupUpdate['rollups'][number], 'encoded'>[]) => [
    of.map(({ target }) => target),
    of.map(({ width }) => width),
    of.map(({ at }) => at),
  ]
  await Promise.all([
    run(UNMARK, [quarter, targets]),
    run(SAVE, [
      ...keys(saved),
      saved.map(({ byLabels }) => hex(byLabels)),
      saved.map(({ withoutLabels }) => hex(withoutLabels)),
    ]),
    run(DELETE, keys(deleted)),
  ])
}

/** All calls of a target are deleted: what all targets have together changes, also what is just being added up. */
export async function markAllStale({ run }: Session, name: string): Promise<void> {
  await run(MARK_ALL_STALE, [name])
  await run(COUNT_RESET)
}
