import type { Cluster } from './cluster.ts'
import { type Row, type Sql, type Step } from './sql.ts'
import type { EventStore, LoggedEvents, NewEvents } from './store.ts'

const COLUMNS = 'position, id, target, named, at, n, total, data, participants'
/**
 * The first rows of a selection that have at most $2 events together, but at least one row. They are found by their numbers: a row has up
 * to half a megabyte, and the databases would hold all that might be read.
 */
const firstOf = (condition: string, order: string) => `
  SELECT ${COLUMNS} FROM callwatch.events WHERE position IN (
    SELECT position FROM (
      SELECT position, sum(n) OVER (ORDER BY position ${order}) AS events, row_number() OVER (ORDER BY position ${order}) AS place
      FROM (SELECT position, n FROM callwatch.events WHERE ${condition} ORDER BY position ${order} LIMIT greatest($2::int, 1)) AS found
    ) AS counted WHERE place = 1 OR events <= $2::int
  ) ORDER BY position`
const FROM = firstOf('position >= $1::bigint', 'ASC')
const LATEST = firstOf('position IS NOT NULL AND $1::text IS NULL', 'DESC')

/** The most rows in one statement. */
const NUMBERED_AT_ONCE = 5000
/** The last position, and the number of events up to it. */
export const LAST = `
  SELECT coalesce(max(position), 0) AS last, coalesce(max(total), 0) AS before
  FROM (SELECT position, total FROM callwatch.events WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1) AS newest`
/**
 * Assigns positions to rows that have none. The serials of a target's commits rise, and each is visible before the next one is
 * drawn. So ordering the visible rows by serial keeps the order of each target's commits.
 */
export const NUMBER = `
  UPDATE callwatch.events SET position = found.position, total = found.total FROM (
    SELECT serial, last + row_number() OVER (ORDER BY serial) AS position, before + sum(n) OVER (ORDER BY serial) AS total
    FROM (SELECT serial, n FROM callwatch.events WHERE position IS NULL ORDER BY serial LIMIT ${NUMBERED_AT_ONCE}) AS new,
      (${LAST}) AS log
  ) AS found
  WHERE events.serial = found.serial`

/** @param place the position and the total of a commit that gets its position at once */
const log = (place: string) => `
  INSERT INTO callwatch.events (id, target, at, n, data, participants, position, total)
  SELECT $1, $2, $3::float8, $4::bigint, $5, $6, ${place}`
const LOG = log('NULL, NULL')
const LOG_NEXT = `${log('last + 1, before + $4')} FROM (${LAST}) AS log`

const DELETED_AT_ONCE = 2000
/**
 * Deletes only the oldest rows, whatever the clocks showed. The newest of them stays, so that a reader knows whether it missed
 * events.
 */
const DELETE = `
  DELETE FROM callwatch.events WHERE serial IN (
    SELECT serial FROM callwatch.events WHERE position < (
      SELECT max(position) FROM callwatch.events WHERE position < least($2::bigint, coalesce(
        (SELECT position FROM callwatch.events WHERE at >= $1::float8 AND at < $3::float8 AND position IS NOT NULL ORDER BY position LIMIT 1), $2::bigint)))
    ORDER BY position LIMIT ${DELETED_AT_ONCE})
  RETURNING 1`

const ERASED_AT_ONCE = 200
const ERASE = `
  UPDATE callwatch.events SET participants = '' WHERE serial IN (
    SELECT serial FROM callwatch.events WHERE participants <> '' ORDER BY serial LIMIT ${ERASED_AT_ONCE})
  RETURNING 1`

export type EventLog = ReturnType<typeof eventLog>

/** The event log. Without a cluster it is in SQLite: without concurrent commits, events get their positions when they are logged. */
export function eventLog(sql: Sql, cluster?: Pick<Cluster, 'ordering'>) {
  const ordering = cluster === undefined ? [] : [cluster.ordering]
  const read = async (query: string, position: number | null, most: number) =>
    (await sql.all(query, [position, most])).map(loggedEventsOf)
  /** @returns the number of changed rows */
  const changed = async (step: Step) => (await sql.batch([...ordering, step])).at(-1)!.length
  const methods: EventStore = {
    events: (position, most) => read(FROM, position, most),
    latestEvents: (most) => read(LATEST, null, most),
    deleteEvents: async (before, end = Number.MAX_SAFE_INTEGER, latest = Number.MAX_SAFE_INTEGER) => {
      while ((await changed({ statement: DELETE, args: [before, end, latest] })) === DELETED_AT_ONCE);
    },
    eraseParticipants: async () => {
      while ((await changed({ statement: ERASE, isPersonal: true })) === ERASED_AT_ONCE);
      // Earlier writes stay in the journal while a reader needs them. The next call then empties it.
      if (cluster === undefined) await sql.all('PRAGMA wal_checkpoint(TRUNCATE)')
    },
  }
  return {
    methods,
    /** Assigns each committed event its position in the log. From then on readers see it. Only the leader calls this. */
    number: async (): Promise<void> => void (await sql.batch([...ordering, { statement: NUMBER }])),
    /** Logs events of a target. */
    log: (target: string, logged: NewEvents | undefined): Step[] => {
      if (logged === undefined) return []
      const { id, at, texts, participants = [] } = logged
      const args = [id, target, at, texts.length, texts.join('\n'), participants.join('\n')]
      return [{ statement: cluster === undefined ? LOG_NEXT : LOG, args, isPersonal: participants.length > 0 }]
    },
  }
}

/** A commit in the event log. Its texts are JSON, so they contain no line breaks. */
export function loggedEventsOf({ position, id, target, named, at, total, data, participants }: Row): LoggedEvents {
  return {
    position: Number(position),
    id: String(id),
    target: String(target),
    ...(typeof named === 'string' && { named }),
    at: Number(at),
    total: Number(total),
    texts: String(data).split('\n'),
    ...(participants !== '' && { participants: String(participants).split('\n') }),
  }
}
