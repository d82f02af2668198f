import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import type { ReadRow, RowReader } from '../store/row-reader.ts'
import { conditionsOf, queryArguments } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished, type HistoryScope } from './history-scope.ts'
import { beginOf, readRollup, WIDTHS } from './rollup.ts'
import { SUMMED_COLUMNS, takeCall, type Take } from './sums.ts'

/** Calls that one statement reads, about. */
const CALLS_A_PART = 2500
/** Rollups that one statement reads, about, as totals and by labels: these have some kilobytes each. */
const TOTALS_A_PART = 400
const ROLLUPS_A_PART = 50

/** The number of no target, under which stores have the rollups of all of them. */
export const ALL_TARGETS = 0

export type RollupsQuery = {
  scope: HistoryScope
  period: Period
  /** Whether each target is visited on its own; else all are one, {@link ALL_TARGETS}. */
  each: boolean
  /** The codes of the labels that are visited. Undefined for all: then their labels are not visited, since totals of rollups are enough. */
  labels: readonly number[] | undefined
  /** The number of the visited part that has a moment (UNIX seconds). */
  partAt: (at: number) => number
  /** How exactly it matters when calls began (seconds). For less than a quarter of an hour all calls are read. */
  unit?: number
  aborted?: AbortSignal | undefined
}

/** Takes a target's calls of one part. */
export type Visit = (part: number, target: number) => Take

/**
 * Visits all calls that finished in a period, most of them as rollups. Rollups are not used while they are stale: what is
 * visited are the calls' rows as they are when this begins, or later.
 *
 * @throws {StoreError} when the store cannot be read now
 */
export async function readRollups(store: RowReader, query: RollupsQuery, visit: Visit): Promise<void> {
  const { scope, period, each, labels, partAt, unit = QUARTER_HOUR_SECONDS, aborted } = query
  if (!(period.from < period.to)) return
  const isTogether = scope.isAll && !each
  const stale = await staleQuarters(store, period, isTogether ? undefined : scope.numbers)
  const isUsable = (at: number, width: number) => {
    if (unit < QUARTER_HOUR_SECONDS || partAt(at) !== partAt(at + width - 1)) return false
    for (let quarter = at; quarter < at + width; quarter += QUARTER_HOUR_SECONDS) if (stale.has(quarter)) return false
    return true
  }
  const only = labels && new Set(labels)
  const takes = (target: unknown, at: number) => visit(partAt(at), each ? Number(target) : ALL_TARGETS)
  for (const [width, periods] of covered(period, isUsable)) {
    const read = { numbers: width > 0 && isTogether ? [ALL_TARGETS] : scope.numbers, labels, aborted }
    for (const part of periods) {
      if (width === 0)
        await readCalls(store, { ...read, period: part }, (row) =>
          takeCall(takes(row['target'], Number(row['finished'])), row, unit),
        )
      else
        await readEncoded(store, { ...read, period: part }, width, (row) =>
          readRollup(takes(row['target'], Number(row['at'])), row['bytes'], only),
        )
    }
  }
}

/** What covers a period, by its width: the largest rollups that are usable, and calls (0) where none is. */
function covered(period: Period, isUsable: (at: number, width: number) => boolean): Map<number, Period[]> {
  const found = new Map([0, ...WIDTHS].map((width): [number, Period[]] => [width, []]))
  const put = (width: number, { from, to }: Period) => {
    const periods = found.get(width)!
    const last = periods.at(-1)
    if (last?.to === from) last.to = to
    else periods.push({ from, to })
  }
  const cover = ({ from, to }: Period, [width, ...shorter]: readonly number[]) => {
    if (width === undefined) return put(0, { from, to })
    for (let at = beginOf(from, width); at < to; at += width) {
      const part: Period = { from: Math.max(from, at), to: Math.min(to, at + width) }
      if (part.to - part.from === width && isUsable(at, width)) put(width, part)
      else cover(part, shorter)
    }
  }
  cover(period, WIDTHS.toReversed())
  return found
}

type Read = {
  period: Period
  numbers: readonly number[]
  /** The codes of the labels that are read; undefined for all. */
  labels?: readonly number[] | undefined
  aborted?: AbortSignal | undefined
}

/** Reads the calls that finished in a period, some at a time, with their target and {@link SUMMED_COLUMNS}. */
export async function readCalls(
  store: RowReader,
  { period: { from, to }, numbers, labels, aborted }: Read,
  take: (row: ReadRow) => void,
): Promise<void> {
  aborted?.throwIfAborted()
  const parts = Math.ceil((await countFinished(store, { numbers }, { from, to })) / CALLS_A_PART)
  const length = (to - from) / parts
  for (let i = 0; i < parts; i++) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const [begin, end] = [from + i * length, i === parts - 1 ? to : from + (i + 1) * length]
    const rows = await store.rows(
      `SELECT target, ${SUMMED_COLUMNS} FROM callwatch.targets CROSS JOIN callwatch.calls
      WHERE ${conditionsOf({}, numbers, add)} AND finished >= ${add(begin)} AND finished < ${add(end)}
      ${labels === undefined ? '' : `AND labels IN (${labels.join(', ') || 'NULL'})`}`,
      args,
    )
    for (const row of rows) take(row)
  }
}

/** Reads rollups as they are stored, stale or not. */
async function readEncoded(
  store: RowReader,
  { labels, numbers, period, aborted }: Read,
  width: number,
  take: (row: ReadRow) => void,
): Promise<void> {
  const length =
    Math.max(1, Math.floor((labels === undefined ? TOTALS_A_PART : ROLLUPS_A_PART) / numbers.length)) * width
  for (let { from } = period; from < period.to; from += length) {
    aborted?.throwIfAborted()
    const rows = await store.rows(
      `SELECT target, at, ${labels === undefined ? 'without_labels' : 'by_labels'} AS bytes FROM callwatch.rollups
      WHERE target IN (${numbers.join(', ')}) AND width = ${width} AND at >= $1 AND at < $2`,
      [from, Math.min(period.to, from + length)],
    )
    for (const row of rows) take(row)
  }
}

/** The quarters of an hour in a period that are stale of any of these targets; without numbers, of any there was. */
async function staleQuarters(
  store: RowReader,
  { from, to }: Period,
  numbers: readonly number[] | undefined,
): Promise<Set<number>> {
  const rows = await store.rows(
    `SELECT DISTINCT quarter FROM callwatch.stale_rollups WHERE quarter >= $1 AND quarter < $2
    ${numbers === undefined ? '' : `AND target IN (${numbers.join(', ')})`}`,
    [quarterHourOf(from), to],
  )
  return new Set(rows.map(({ quarter }) => Number(quarter)))
}
