import { QUARTER } from '../../ledger/usage.ts'
import type { RollupUpdate } from '../store.ts'
import type { Session } from './connection.ts'

/** Marks rollups of quarters whose calls change. @param rows selects quarters and targets, as `quarter` and `target` */
export function markStale(rows: string): string {
  return `INSERT INTO callwatch.stale_rollups AS known (quarter, target, version) SELECT quarter, target, 1 FROM ${rows} AS changed
    ON CONFLICT (quarter, target) DO UPDATE SET version = known.version + 1`
}

/** All calls of a target ($1, its name) are deleted: what all targets have together changes. */
export const MARK_ALL_STALE = markStale(
  `(SELECT at AS quarter, target FROM callwatch.rollups
  WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND width = ${QUARTER})`,
)

/** The leader, if it is this member, which stays a member until the transaction ends: two leaders at once would undo each other's sums. */
const LEADER = `
  SELECT id FROM callwatch.members
  WHERE id = $1::uuid AND id = (SELECT id FROM callwatch.members ORDER BY joined LIMIT 1) FOR KEY SHARE`

/** What a commit changes at this moment is not waited for: it is stale again. */
const FRESH = `
  SELECT target FROM callwatch.stale_rollups JOIN unnest($2::int[], $3::bigint[]) AS given (target, version) USING (target, version)
  WHERE quarter = $1::bigint FOR UPDATE OF stale_rollups SKIP LOCKED`

const UNMARK = 'DELETE FROM callwatch.stale_rollups WHERE quarter = $1::bigint AND target = ANY ($2::int[])'

const SAVE = `
  INSERT INTO callwatch.rollups (target, width, at, data, total)
  SELECT target, width, at, decode(data, 'hex'), decode(total, 'hex')
  FROM unnest($1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[]) AS given (target, width, at, data, total)
  ON CONFLICT (target, width, at) DO UPDATE SET data = excluded.data, total = excluded.total`

const DELETE = `
  DELETE FROM callwatch.rollups USING unnest($1::int[], $2::int[], $3::bigint[]) AS given (target, width, at)
  WHERE rollups.target = given.target AND rollups.width = given.width AND rollups.at = given.at`

/**
 * Saves rollups, unless one of them is stale again. Within a transaction.
 *
 * @returns whether this member is the leader
 */
export async function saveRollups(
  { run }: Session,
  { quarter, versions, rollups }: RollupUpdate,
  self: string | undefined,
): Promise<boolean> {
  const [leader] = self === undefined ? [] : await run(LEADER, [self])
  if (leader === undefined) return false
  const targets = versions.map(({ target }) => target)
  const fresh = await run(FRESH, [quarter, targets, versions.map(({ version }) => version)])
  if (fresh.length < versions.length) return true
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
    run(SAVE, [...keys(saved), saved.map(({ data }) => hex(data)), saved.map(({ total }) => hex(total))]),
    run(DELETE, keys(deleted)),
  ])
  return true
}
