import type { RecentOverviews } from '../cluster-store.ts'
import type { Row, Session } from './connection.ts'

/** In one order: else two members that publish targets of each other could deadlock. */
const PUBLISH = `
  INSERT INTO callwatch.overviews (target, data)
  SELECT number, given.data FROM unnest($2::text[], $3::text[]) AS given (name, data) JOIN callwatch.targets USING (name)
  WHERE owner = $1::uuid ORDER BY number
  ON CONFLICT (target) DO UPDATE SET data = excluded.data, changed = pg_current_xact_id()`

/** Publishes the overviews of those targets that a member owns. */
export async function publish({ run }: Session, self: string, overviews: ReadonlyMap<string, string>): Promise<void> {
  if (overviews.size > 0) await run(PUBLISH, [self, [...overviews.keys()], [...overviews.values()]])
}

/** What this statement sees. */
const CURSOR = 'SELECT NULL AS name, pg_current_snapshot()::text AS text'
const OVERVIEWS = 'SELECT name, overviews.data FROM callwatch.overviews JOIN callwatch.targets ON target = number'
/** A part of them: all in one statement could exceed its timeout. */
const PART = `
  SELECT number, name, overviews.data FROM callwatch.overviews JOIN callwatch.targets ON target = number
  WHERE number > $1 ORDER BY number LIMIT $2`
const PART_SIZE = 500

/**
 * An overview is recent if the earlier snapshot did not see it. Its number alone does not say so: a transaction may commit after one
 * that began later. All transactions below the snapshot's xmin had ended by then. A dump of another database may bring rows with
 * numbers above all of this one's: these are not recent.
 */
const IS_NEW = `
  changed >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(changed, $1::pg_snapshot)
  AND changed < pg_snapshot_xmax(pg_current_snapshot())`
const SINCE = `${CURSOR} UNION ALL ${OVERVIEWS} WHERE ${IS_NEW}`

export async function readOverviews(session: Session, cursor?: string): Promise<RecentOverviews> {
  if (cursor === undefined) return readAll(session)
  const rows = await session.run(SINCE, [cursor])
  const next = String(rows.find(({ name }) => name === null)!['text'])
  // A database that was restored, or a standby that took over, may be behind what was seen.
  if (isBefore(next, cursor)) return readAll(session)
  const ofTargets = rows.filter(({ name }) => name !== null)
  return { cursor: next, overviews: new Map(ofTargets.map(({ name, text }) => [String(name), String(text)])) }
}

async function readAll({ run }: Session): Promise<RecentOverviews> {
  const [first] = await run(CURSOR)
  const overviews = new Map<string, string>()
  for (let last = 0, part: Row[] = []; ; last = Number(part.at(-1)!['number'])) {
    part = await run(PART, [last, PART_SIZE])
    for (const { name, data } of part) overviews.set(String(name), String(data))
    if (part.length < PART_SIZE) return { cursor: String(first!['text']), overviews }
  }
}

/** Of snapshots of one database, as `xmin:xmax:…`, neither number ever decreases. */
function isBefore(snapshot: string, earlier: string): boolean {
  const [numbers, known] = [snapshot, earlier].map((text) => text.split(':').slice(0, 2).map(BigInt))
  return numbers!.some((number, i) => number < known![i]!)
}
