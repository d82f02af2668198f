import { RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import { HISTORY_COLUMNS, historyColumns } from '../../ledger/history-columns.ts'
import { isCounted } from '../../ledger/tracked-call.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { hourOf, packEvaluation } from '../evaluation-log.ts'
import { eventColumns } from '../rows.ts'
import type { Commit } from '../store.ts'
import type { Argument, Session } from './connection.ts'
import { markStale } from './rollups.ts'

/** The member that may commit a target, and the epoch of its ownership. */
export type Fence = { owner: string; epoch: number }

/** A commit of a target, and the fence under which it is made. */
export type FencedCommit = { target: string; commit: Commit; fence: Fence }

/** The number of the first parameter with columns of calls. */
const FIRST_COLUMN = 39
const COLUMN_ARGUMENTS = HISTORY_COLUMNS.map((_, i) => `$${FIRST_COLUMN + i}::float8[]`).join(', ')

/**
 * All of several commits, of different targets, in one statement: it needs no transaction around it, takes one round trip,
 * and where a target has another owner, epoch or sequence number, `moved` is without it and nothing of it is written. No row
 * is touched by two parts, each of which sees the database as it was before. Targets are locked before any other row, and
 * in one order: else two statements could deadlock. `of` is the place of a row's commit among them.
 */
const COMMIT = `
  WITH followed AS (
    SELECT number, next, place::int AS of
    FROM callwatch.targets JOIN unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
      WITH ORDINALITY AS given (name, expected, holder, claimed, next, place) USING (name)
    WHERE seq = expected AND owner = holder::uuid AND epoch = claimed
    ORDER BY number FOR UPDATE OF targets
  ), moved AS (
    UPDATE callwatch.targets SET seq = targets.seq + 1, sync = next FROM followed
    WHERE targets.number = followed.number
    RETURNING targets.number, targets.seq, targets.epoch, of
  ), logged AS (
    INSERT INTO callwatch.commits (target, seq, epoch) SELECT number, seq, epoch FROM moved
  ), changed AS (
    INSERT INTO callwatch.calls (target, id, tracked, data, ${HISTORY_COLUMNS.join(', ')})
    SELECT number, id, tracked = 1,
      substring($9::bytea FROM (place::int - 1) * ${RECORD_BYTES} + 1 FOR ${RECORD_BYTES}),
      ${HISTORY_COLUMNS.map((name) => (name === 'recorded' ? 'recorded = 1' : name)).join(', ')}
    FROM moved JOIN unnest($6::int[], $7::text[], $8::int[], ${COLUMN_ARGUMENTS})
      WITH ORDINALITY AS call (of, id, tracked, ${HISTORY_COLUMNS.join(', ')}, place) USING (of)
    ON CONFLICT (target, id) DO UPDATE SET tracked = excluded.tracked, data = excluded.data,
      ${HISTORY_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
  ), history AS (
    UPDATE callwatch.calls SET tracked = false
    FROM moved JOIN unnest($10::int[], $11::text[]) AS given (of, id) USING (of)
    WHERE target = number AND calls.id = given.id
  ), dropped AS (
    DELETE FROM callwatch.calls USING moved JOIN unnest($12::int[], $13::text[]) AS given (of, id) USING (of)
    WHERE target = number AND calls.id = given.id
  ), counted AS (
    INSERT INTO callwatch.counters AS counter (target, series, value)
    SELECT number, series, increment
    FROM moved JOIN unnest($14::int[], $15::text[], $16::float8[]) AS given (of, series, increment) USING (of)
    ON CONFLICT (target, series) DO UPDATE SET value = counter.value + excluded.value
  ), used AS (
    INSERT INTO callwatch.usage AS known (target, quarter, minutes)
    SELECT number, quarter, more
    FROM moved JOIN unnest($17::int[], $18::bigint[], $19::float8[]) AS given (of, quarter, more) USING (of)
    ON CONFLICT (target, quarter) DO UPDATE SET minutes = known.minutes + excluded.minutes
  ), alerted AS (
    INSERT INTO callwatch.alerts (target, alert, data)
    SELECT number, alert, instance
    FROM moved JOIN unnest($20::int[], $21::text[], $22::text[]) AS given (of, alert, instance) USING (of)
    ON CONFLICT (target, alert) DO UPDATE SET data = excluded.data
  ), ended AS (
    DELETE FROM callwatch.alerts USING moved JOIN unnest($23::int[], $24::text[]) AS given (of, alert) USING (of)
    WHERE target = number AND alerts.alert = given.alert
  ), evaluated AS (
    INSERT INTO callwatch.evaluations AS log (target, hour, data)
    SELECT number, hour, entry
    FROM moved JOIN unnest($25::int[], $26::bigint[], $27::text[]) AS given (of, hour, entry) USING (of)
    ON CONFLICT (target, hour) DO UPDATE SET data = log.data || excluded.data
  ), event_log AS (
    INSERT INTO callwatch.events (id, target, at, n, data, participants)
    SELECT id, ($1::text[])[of], at, n, data, participants
    FROM moved JOIN unnest($28::int[], $29::text[], $30::float8[], $31::int[], $32::text[], $33::text[])
      AS given (of, id, at, n, data, participants) USING (of)
  ), gap AS (
    INSERT INTO callwatch.gaps (target, began, ended)
    SELECT number, began, ended
    FROM moved JOIN unnest($34::int[], $35::float8[], $36::float8[]) AS given (of, began, ended) USING (of)
    ON CONFLICT DO NOTHING
  ), stale AS (
    ${markStale('(SELECT quarter, number AS target FROM moved JOIN unnest($37::int[], $38::bigint[]) AS given (of, quarter) USING (of))')}
  )
  SELECT of FROM moved`

/**
 * Writes commits of different targets, each whole or not at all, without what they enqueue.
 *
 * @returns of each whether it was written
 */
export async function writeCommits(session: Session, fenced: readonly FencedCommit[]): Promise<boolean[]> {
  /** The rows that all commits have of one kind, by columns: the first has the places of their commits. */
  function columns<T>(rowsOf: (commit: Commit) => Iterable<T>, ...contents: ((row: T) => string | number | null)[]) {
    const of: number[] = []
    const rows: T[] = []
    for (const [i, { commit }] of fenced.entries()) {
      for (const row of rowsOf(commit)) {
        of.push(i + 1)
        rows.push(row)
      }
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each column is of one type
    return [of, ...contents.map((content) => rows.map(content))] as Argument[]
  }
  const rows = new Map(fenced.map(({ commit }) => [commit, callRows(commit)]))
  const shown = [...rows.values()].flatMap(({ written }) => written.map(({ call }) => historyColumns(call)))
  const args: Argument[] = [
    fenced.map(({ target }) => target),
    fenced.map(({ commit }) => commit.ledger.sync.seq - 1),
    fenced.map(({ fence }) => fence.owner),
    fenced.map(({ fence }) => fence.epoch),
    fenced.map(({ commit }) => JSON.stringify(commit.ledger.sync)),
    ...columns(
      (commit) => rows.get(commit)!.written,
      ({ call }) => call.id,
      ({ isTracked }) => (isTracked ? 1 : 0),
    ),
    recordsOf([...rows.values()].flatMap(({ written }) => written.map(({ call }) => call))),
    ...columns(
      (commit) => rows.get(commit)!.evicted,
      (id) => id,
    ),
    ...columns(
      (commit) => rows.get(commit)!.dropped,
      (id) => id,
    ),
    ...columns(({ ledger }) => ledger.counters, ...keyAndValue),
    ...columns(({ ledger }) => ledger.usage, ...keyAndValue),
    ...columns(
      ({ alerts }) => changedAlerts(alerts),
      ({ key }) => key,
      (instance) => JSON.stringify(instance),
    ),
    ...columns(
      ({ alerts }) => alerts.ended,
      ({ key }) => key,
    ),
    ...columns(({ evaluated }) => (evaluated === undefined ? [] : [evaluated]), hourOf, packEvaluation),
    ...columns(
      ({ events }) => (events === undefined ? [] : [eventColumns(events)]),
      ({ id }) => id,
      ({ at }) => at,
      ({ n }) => n,
      ({ data }) => data,
      ({ participants }) => participants,
    ),
    ...columns(
      ({ gap }) => (gap === undefined ? [] : [gap]),
      ({ began }) => began,
      ({ ended }) => ended,
    ),
    ...columns(
      ({ ledger }) => ledger.stale,
      (quarter) => quarter,
    ),
    ...HISTORY_COLUMNS.map((name) => shown.map((columns) => columns[name])),
  ]
  const written = new Set((await session.run(COMMIT, args)).map(({ of }) => of))
  return fenced.map((_, i) => written.has(i + 1))
}

const keyAndValue = [
  ([key]: readonly [string | number, number]) => key,
  ([, value]: readonly [string | number, number]) => value,
] as const

/** Which rows of calls are written, become history or are deleted: a call that changes and is evicted in one delta has one row. */
function callRows({ ledger: { calls, evicted } }: Commit) {
  const dropped = new Set(evicted.filter((call) => !isCounted(call)).map(({ id }) => id))
  /** Of these and of others, those that are only history from now on. */
  const history = new Set(evicted.filter(isCounted).map(({ id }) => id))
  const written = [...calls.values()].filter(({ id }) => !dropped.has(id))
  return {
    written: written.map((call) => ({ call, isTracked: !history.has(call.id) })),
    evicted: [...history].filter((id) => !calls.has(id)),
    dropped,
  }
}

function changedAlerts({ changed, ended }: Commit['alerts']) {
  const endedKeys = new Set(ended.map(({ key }) => key))
  return changed.filter(({ key }) => !endedKeys.has(key))
}

/** The calls' records, one behind the other: as an array of their own they would be escaped one by one. */
function recordsOf(calls: readonly TrackedCall[]): Uint8Array {
  const records = new Uint8Array(calls.length * RECORD_BYTES)
  const view = new DataView(records.buffer)
  for (const [i, call] of calls.entries()) writeCall(view, i * RECORD_BYTES, call)
  return records
}
