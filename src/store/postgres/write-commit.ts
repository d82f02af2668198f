import { RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { hourOf, packEvaluated } from '../evaluation-log.ts'
import { settledOf } from '../rows.ts'
import type { Commit } from '../store.ts'
import { packCommit } from './commit-log.ts'
import type { Argument, Session } from './connection.ts'

/** The member that may commit a target, and the epoch of its ownership. */
export type Fence = { owner: string; epoch: number }

/**
 * All of a commit in one statement: it needs no transaction around it, takes one round trip, and where the target has
 * another owner, epoch or sequence number, `moved` is empty and nothing at all is written. No row is touched by two parts,
 * each of which sees the database as it was before.
 */
const COMMIT = `
  WITH moved AS (
    UPDATE callwatch.targets SET seq = seq + 1, sync = $5
    WHERE name = $1 AND seq = $2::bigint AND owner = $3::uuid AND epoch = $4::bigint
    RETURNING number, seq, epoch
  ), logged AS (
    INSERT INTO callwatch.commits (target, seq, epoch, data) SELECT number, seq, epoch, $6::bytea FROM moved
    RETURNING 1
  ), changed AS (
    INSERT INTO callwatch.calls (target, id, finished, tracked, data)
    SELECT number, call.id, call.finished, call.tracked = 1,
      substring($10::bytea FROM (call.place::int - 1) * ${RECORD_BYTES} + 1 FOR ${RECORD_BYTES})
    FROM moved, unnest($7::text[], $8::float8[], $9::int[]) WITH ORDINALITY AS call (id, finished, tracked, place)
    ON CONFLICT (target, id) DO UPDATE
      SET finished = excluded.finished, tracked = excluded.tracked, data = excluded.data
  ), history AS (
    UPDATE callwatch.calls SET tracked = false FROM moved WHERE target = moved.number AND id = ANY ($11::text[])
  ), dropped AS (
    DELETE FROM callwatch.calls USING moved WHERE target = moved.number AND id = ANY ($12::text[])
  ), settled AS (
    UPDATE callwatch.settled AS sum SET value = sum.value + more
    FROM moved, unnest($22::text[], $23::float8[]) AS given (quantity, more)
    WHERE sum.target = moved.number AND sum.quantity = given.quantity
  ), counted AS (
    INSERT INTO callwatch.counters AS counter (target, series, value)
    SELECT number, series, increment FROM moved, unnest($13::text[], $14::float8[]) AS given (series, increment)
    ON CONFLICT (target, series) DO UPDATE SET value = counter.value + excluded.value
  ), used AS (
    INSERT INTO callwatch.usage AS known (target, quarter, minutes)
    SELECT number, quarter, more FROM moved, unnest($15::bigint[], $16::float8[]) AS given (quarter, more)
    ON CONFLICT (target, quarter) DO UPDATE SET minutes = known.minutes + excluded.minutes
  ), alerted AS (
    INSERT INTO callwatch.alerts (target, alert, data)
    SELECT number, alert, instance FROM moved, unnest($17::text[], $18::text[]) AS given (alert, instance)
    ON CONFLICT (target, alert) DO UPDATE SET data = excluded.data
  ), ended AS (
    DELETE FROM callwatch.alerts USING moved WHERE target = moved.number AND alert = ANY ($19::text[])
  ), evaluated AS (
    INSERT INTO callwatch.evaluations AS log (target, hour, data)
    SELECT number, hour, entry FROM moved, unnest($20::bigint[], $21::text[]) AS given (hour, entry)
    ON CONFLICT (target, hour) DO UPDATE SET data = log.data || excluded.data
  )
  SELECT FROM logged`

/** Writes a commit, without what it enqueues. @returns whether anything was written */
export async function writeCommit(
  session: Session,
  target: string,
  commit: Commit,
  { owner, epoch }: Fence,
): Promise<boolean> {
  const { ledger, alerts, evaluated } = commit
  const calls = rowsOf(commit)
  const settled = settledOf(ledger.evicted.filter(({ finish }) => finish === undefined))
  const endedKeys = alerts.ended.map(({ key }) => key)
  const changed = alerts.changed.filter(({ key }) => !endedKeys.includes(key))
  const args: Argument[] = [
    target,
    ledger.sync.seq - 1,
    owner,
    epoch,
    JSON.stringify(ledger.sync),
    packCommit(commit),
    calls.written.map(({ id }) => id),
    calls.written.map(({ finish }) => finish?.at ?? null),
    calls.written.map(({ id }) => (calls.history.has(id) ? 0 : 1)),
    recordsOf(calls.written),
    [...calls.history].filter((id) => !ledger.calls.has(id)),
    [...calls.dropped],
    [...ledger.counters.keys()],
    [...ledger.counters.values()],
    [...ledger.usage.keys()],
    [...ledger.usage.values()],
    changed.map(({ key }) => key),
    changed.map((instance) => JSON.stringify(instance)),
    endedKeys,
    evaluated === undefined ? [] : [hourOf(evaluated)],
    evaluated === undefined ? [] : [packEvaluated(evaluated)],
    settled.map(([quantity]) => quantity),
    settled.map(([, amount]) => amount),
  ]
  return (await session.run(COMMIT, args)).length > 0
}

/** Which rows are written, become history or are deleted: a call that changes and is evicted in one delta has one row. */
function rowsOf({ ledger: { calls, evicted } }: Commit) {
  const isCounted = ({ finish }: TrackedCall) => finish !== undefined
  const dropped = new Set(evicted.filter((call) => !isCounted(call)).map(({ id }) => id))
  return {
    written: [...calls.values()].filter(({ id }) => !dropped.has(id)),
    /** Of these and of others, those that are only history from now on. */
    history: new Set(evicted.filter(isCounted).map(({ id }) => id)),
    dropped,
  }
}

/** The calls' records, one behind the other: as an array of their own they would be escaped one by one. */
function recordsOf(calls: readonly TrackedCall[]): Uint8Array {
  const records = new Uint8Array(calls.length * RECORD_BYTES)
  const view = new DataView(records.buffer)
  for (const [i, call] of calls.entries()) writeCall(view, i * RECORD_BYTES, call)
  return records
}
