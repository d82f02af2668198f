import type { DatabaseSync } from 'node:sqlite'
import { statusCode } from '../../ledger/call-codes.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { bytesOf } from '../rows.ts'
import type { HistoryQuery } from '../store.ts'

/** A finished call of the history, its record as stored (call-record.ts). */
export type HistoryRow = { target: string; id: string; data: Uint8Array; finished: number }

/** The smallest batch of rows that is read of a target. */
const MIN_BATCH = 8

/** No text is above it: SQLite sorts a BLOB after each of them. */
const ABOVE_ALL = new Uint8Array(0)

const NEWEST = `
  SELECT id, data, finished FROM calls
  WHERE target = :target AND finished >= :since AND finished <= :at AND (finished < :at OR id > :above)
    AND status <> ${LOST_CODE} AND (:status IS NULL OR status = :status)
  ORDER BY finished DESC, id LIMIT :limit`

/**
 * The history, newest first. Each target is read by its index, a few rows at a time: however many targets there are, hardly more
 * rows are read than are asked for.
 */
export function finishedCallsIn(db: DatabaseSync): (query: HistoryQuery) => HistoryRow[] {
  const targets = db.prepare('SELECT name, number FROM targets')
  const select = db.prepare(NEWEST)

  return ({ since, limit, target: wanted, status, after }) => {
    const read = targets
      .all()
      .map(({ name, number }) => ({ name: String(name), number: Number(number) }))
      .filter(({ name }) => wanted === undefined || name === wanted)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const rows = Math.min(limit, Math.max(MIN_BATCH, Math.ceil(limit / Math.max(1, read.length))))
    const wantedStatus = status === undefined ? null : statusCode(status)

    function* newest(target: string, number: number): Generator<HistoryRow, undefined> {
      let at = after?.at ?? Infinity
      let above: string | Uint8Array = after === undefined || target > after.target ? '' : ABOVE_ALL
      if (target === after?.target) above = after.id
      for (;;) {
        const found = select
          .all({ target: number, since, at, above, status: wantedStatus, limit: rows })
          .map((row) => ({ target, id: String(row['id']), data: bytesOf(row), finished: Number(row['finished']) }))
        yield* found
        const last = found.at(-1)
        if (last === undefined || found.length < rows) return undefined
        at = last.finished
        above = last.id
      }
    }

    const lists = read.map(({ name, number }) => newest(name, number))
    const heads = limit === 0 ? [] : lists.map((list) => list.next().value)
    const merged: HistoryRow[] = []
    while (merged.length < limit) {
      // Of the same moment the first target comes first: they are read in the order of their names.
      const first = heads.reduce((best, head, i) => {
        const known = heads[best]
        return head !== undefined && (known === undefined || head.finished > known.finished) ? i : best
      }, 0)
      const head = heads[first]
      if (head === undefined) break
      merged.push(head)
      heads[first] = lists[first]!.next().value
    }
    return merged
  }
}
