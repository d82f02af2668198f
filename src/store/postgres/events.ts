import { eventColumns, loggedEventsOf } from '../rows.ts'
import type { LoggedEvents, NewEvents } from '../store.ts'
import type { Session } from './connection.ts'

const COLUMNS = 'position, id, target, at, n, total, data, participants'
/** The first rows of a selection, as long as there are no more than $2 events in them; one at least. */
const firstOf = (rows: string, order: string) => `
  SELECT ${COLUMNS} FROM (
    SELECT *, sum(n) OVER (ORDER BY position ${order}) AS events, row_number() OVER (ORDER BY position ${order}) AS place
    FROM (${rows} ORDER BY position ${order} LIMIT greatest($2, 1)) AS found
  ) AS counted WHERE place = 1 OR events <= $2 ORDER BY position`
const FROM = firstOf(`SELECT ${COLUMNS} FROM callwatch.events WHERE position >= $1::bigint`, 'ASC')
const LATEST = firstOf(`SELECT ${COLUMNS} FROM callwatch.events WHERE position IS NOT NULL AND $1::int IS NULL`, 'DESC')

/** "even" in ASCII: one at a time gives positions, until its transaction ends. Else a reader could see a position before a lower one. */
const LOCK = 'SELECT pg_advisory_xact_lock(1702257006)'
/** In one statement at most. */
const NUMBERED_AT_ONCE = 5000
/** The last position, and how many events there were up to it. */
export const LAST = `
  SELECT coalesce(max(position), 0) AS last, coalesce(max(total), 0) AS before
  FROM (SELECT position, total FROM callwatch.events WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1) AS newest`
/**
 * A target's commits have rising serials, each of which is visible before the next one is drawn: the order of the serials
 * that are visible now keeps the order of each target's commits. A statement of its own, so that it sees what the one before
 * the lock has done.
 */
const NUMBER = `
  UPDATE callwatch.events SET position = last + place, total = before + upto
  FROM (${LAST}) AS log,
    (SELECT serial, row_number() OVER (ORDER BY serial) AS place, sum(n) OVER (ORDER BY serial) AS upto
      FROM callwatch.events WHERE position IS NULL ORDER BY serial LIMIT ${NUMBERED_AT_ONCE}) AS found
  WHERE events.serial = found.serial`

/** All rows, those that have no position yet with the one that they will get. */
export const ALL_EVENTS = `
  SELECT id, target, at, n, data, participants,
    coalesce(position, last + row_number() OVER (PARTITION BY position IS NULL ORDER BY serial)) AS position,
    coalesce(total, before + sum(n) OVER (PARTITION BY position IS NULL ORDER BY serial)) AS total
  FROM callwatch.events, (${LAST}) AS log`

/** Gives positions to events that have none, in a transaction. */
export async function numberEvents({ run }: Session): Promise<void> {
  await Promise.all([run(LOCK), run(NUMBER)])
}

export async function eventsFrom({ run }: Session, position: number, most: number): Promise<LoggedEvents[]> {
  return (await run(FROM, [position, most])).map(loggedEventsOf)
}

export async function latestEvents({ run }: Session, most: number): Promise<LoggedEvents[]> {
  return (await run(LATEST, [null, most])).map(loggedEventsOf)
}

const DELETED_AT_ONCE = 5000
/** Only the oldest rows, whatever the clocks were, and the newest of these stays: so a reader knows what it has missed. */
const DELETE = `
  WITH deleted AS (
    DELETE FROM callwatch.events WHERE serial IN (
      SELECT serial FROM callwatch.events WHERE position < (
        SELECT max(position) FROM callwatch.events WHERE position < least($2::bigint, (
          SELECT position FROM callwatch.events WHERE at >= $1::float8 AND position IS NOT NULL ORDER BY position LIMIT 1)))
      ORDER BY position LIMIT ${DELETED_AT_ONCE})
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`

export async function deleteEvents({ run }: Session, before: number, end = Number.MAX_SAFE_INTEGER): Promise<void> {
  for (let n = DELETED_AT_ONCE; n === DELETED_AT_ONCE;) n = Number((await run(DELETE, [before, end]))[0]!['n'])
}

const ERASED_AT_ONCE = 200
/** Under the lock: what gives positions locks the same rows, in another order. */
const ERASE = `
  WITH erased AS (
    UPDATE callwatch.events SET participants = '' WHERE serial IN (
      SELECT serial FROM callwatch.events WHERE participants <> '' ORDER BY serial LIMIT ${ERASED_AT_ONCE})
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM erased`

/** Erases who took part from all events, some of them in each transaction. */
export async function eraseParticipants(
  allOrNothing: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
): Promise<void> {
  for (let n = ERASED_AT_ONCE; n === ERASED_AT_ONCE;) {
    const [, rows] = await allOrNothing(({ run }) => Promise.all([run(LOCK), run(ERASE)]))
    n = Number(rows[0]!['n'])
  }
}

const LOG = `INSERT INTO callwatch.events (id, target, at, n, data, participants) VALUES ($1, $2, $3, $4, $5, $6)`

/** Logs events that come without a commit. */
export async function logEvents({ run }: Session, target: string, events: NewEvents | undefined): Promise<void> {
  if (events === undefined) return
  const { id, at, n, data, participants } = eventColumns(events)
  await run(LOG, [id, target, at, n, data, participants])
}
