import { systemClock } from '../clock/clock.ts'
import { BASELINE_CODE } from '../ledger/call-codes.ts'
import { sessionOf } from '../ledger/identity.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { CALL_COLUMNS, callOfRow, CALL_VALUES } from '../store/call-columns.ts'
import { OF_TARGET, type Row, type RowReader } from '../store/sql.ts'
import { countFinished, historyScope, type HistoryScope } from './history-scope.ts'
import { selectCalls, type AddArgument, type CallFilter } from './call-filter.ts'

export type HistoryCall = { target: string; call: TrackedCall; finished: number }

/** Selects calls that finished in a period; `since` is included, `until` is not (UNIX seconds). */
export type CallsQuery = CallFilter & { since: number; until: number }

/** Where a page begins, newest first: at calls before a time, or after a certain call of that time. */
export type PagePosition = {
  at: number
  target?: string | undefined
  id?: string | undefined
  /** How long the next part of the history to search should be (seconds), judged by earlier parts. */
  part?: number | undefined
}

export type CallsPage = Awaited<ReturnType<typeof listCalls>>

type PageOptions = {
  limit: number
  after?: PagePosition | undefined
  /**
   * After this long no further part of the history is searched (seconds), even if the page is not full. The first part is
   * always searched.
   */
  searchSeconds?: number
}

const COLUMNS = `finished, ${CALL_COLUMNS.join(', ')}`

/**
 * How long the first part to search is (seconds). Later parts are longer or shorter, depending on how many calls the earlier
 * ones had.
 */
const FIRST_PART_SECONDS = 3600
/** About how many calls a part may have, because its rows must be sorted. */
const CALLS_A_PART = 20_000
const GROWTH = 8
/** If fewer calls than this match the beginning of a session id, they are found by it; otherwise by time. */
export const MANY_IDS = 2000
const MAX_OTHERS = 20

/** A page of finished calls, newest first; calls of the same time by target, then by id. `next` is undefined on the last page. */
export async function listCalls(store: RowReader, query: CallsQuery, options: PageOptions) {
  const { limit, after, searchSeconds = Infinity } = options
  const scope = await historyScope(store, query, query.since)
  const { oldest, newest } = scope
  const calls: HistoryCall[] = []
  const last = Math.min(query.until, newest + 1)
  let position: PagePosition = after !== undefined && after.at < last ? after : { at: last }
  const byId = await isRare(store, query, scope)
  let part = byId ? Infinity : (after?.part ?? FIRST_PART_SECONDS)
  const begun = systemClock.monotonic()
  while (position.at >= oldest) {
    const from = Math.max(oldest, position.at - part)
    // One more than requested, which shows whether there is a next page.
    calls.push(...(await readPart(store, query, { scope, from, position, limit: limit + 1 - calls.length, byId })))
    if (calls.length > limit) {
      const { finished, target, call } = calls[limit - 1]!
      return { calls: calls.slice(0, limit), next: { at: finished, target, id: call.id, ...(!byId && { part }) } }
    }
    if (from === oldest) break
    position = { at: from }
    const counted = await countFinished(store, scope, { from: from - part, to: from })
    part = Math.max(1, part * Math.min(GROWTH, CALLS_A_PART / Math.max(1, counted)))
    if (systemClock.monotonic() - begun > searchSeconds) return { calls, next: { ...position, part } }
  }
  return { calls, next: undefined }
}

/** One call; undefined if the store does not have it or does not count it. */
export async function oneCall(store: RowReader, target: string, id: string): Promise<TrackedCall | undefined> {
  const [row] = await store.rows(
    `SELECT ${COLUMNS} FROM callwatch.targets CROSS JOIN callwatch.calls WHERE target = number AND name = $1 AND id = $2`,
    [target, id],
  )
  const call = row && shownCall(row)
  return call?.phase === 'baseline' ? undefined : call
}

/** The other calls of the session of a call, newest first by when they began, and how many there are besides. */
export async function otherCalls(store: RowReader, target: string, call: TrackedCall) {
  // With OR instead of UNION ALL, SQLite would read all calls of the target.
  const [one, others] = ['session IS NULL AND id = $2', 'session = $2'].map(
    (isOf) =>
      `SELECT ${COLUMNS} FROM callwatch.calls WHERE ${OF_TARGET} AND ${isOf} AND id <> $3 AND status <> ${BASELINE_CODE}`,
  )
  const rows = await store.rows(
    `SELECT *, count(*) OVER () AS n FROM (${one} UNION ALL ${others}) AS found
    ORDER BY ${CALL_VALUES.began} DESC, id LIMIT ${MAX_OTHERS}`,
    [target, sessionOf(call), call.id],
  )
  return { calls: rows.map(shownCall), more: Number(rows[0]?.['n'] ?? 0) - rows.length }
}

/** `byId` finds the calls by session id instead of time. */
type HistoryPart = { scope: HistoryScope; from: number; position: PagePosition; limit: number; byId: boolean }

async function readPart(
  store: RowReader,
  query: CallsQuery,
  { scope, from, position, limit, byId }: HistoryPart,
): Promise<HistoryCall[]> {
  const { at, target, id } = position
  // The sign prevents the planner from using the index by time, which it would read completely.
  const finished = byId ? '+finished' : 'finished'
  const before = (add: AddArgument) =>
    target === undefined || id === undefined
      ? `${finished} < ${add(at)}`
      : `${finished} <= ${add(at)} AND (finished < ${add(at)} OR (name, id) > (${add(target)}, ${add(id)}))`
  const rest = (add: AddArgument) =>
    `AND ${finished} >= ${add(from)} AND ${before(add)} ORDER BY ${finished} DESC, name, id LIMIT ${add(limit)}`
  const rows = await selectCalls(store, `name, ${COLUMNS}`, query, scope.numbers, rest)
  return rows.map((row) => ({ target: String(row['name']), call: shownCall(row), finished: Number(row['finished']) }))
}

/** A call as the history shows it. An open call of a removed target counts as lost since the target was removed. */
function shownCall(row: Row): TrackedCall {
  const [call, finished] = [callOfRow(row), row['finished']]
  return call.phase === 'open' && finished !== null ? { ...call, phase: 'lost', retainUntil: Number(finished) } : call
}

/** Whether the session id selects few calls, so that they are found by id. */
async function isRare(store: RowReader, { sessionIds }: CallsQuery, { numbers }: HistoryScope): Promise<boolean> {
  if (sessionIds === undefined) return false
  const found = await selectCalls(store, '1 AS one', { sessionIds }, numbers, () => `LIMIT ${MANY_IDS}`)
  return found.length < MANY_IDS
}
