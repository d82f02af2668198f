import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { ReadRow, RowReader } from '../store/row-reader.ts'
import { conditionsOf, queryArguments } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished } from './history-scope.ts'
import { addCall, beginOf, partOf, readRollup, ROLLED_COLUMNS, WIDTHS, type RollupSink } from './rollup.ts'

/** Calls that one statement reads, about. */
const CALLS_A_PART = 2500
/** Rollups that one statement reads, about, as totals and by labels: these have some kilobytes each. */
const TOTALS_A_PART = 400
const ROLLUPS_A_PART = 50

/** The number of no target, under which stores have the rollups of all of them. */
export const ALL_TARGETS = 0

export type RollupsQuery = {
  period: Period
  /** The numbers of all targets that are read. */
  numbers: readonly number[]
  /** Whether each target is visited on its own; else all are one, {@link ALL_TARGETS}. */
  each: boolean
  /** Whether `numbers` are all that the store has. */
  isAll: boolean
  /** How much a visit has (seconds): one of {@link WIDTHS}, or less, for which all calls are read. */
  width: number
  /** The codes of the labels that are visited. Undefined for all: then their labels are not visited, since totals of rollups are enough. */
  labels: readonly number[] | undefined
  aborted?: AbortSignal | undefined
}

/** Where a target's calls of one width go, which begins at a multiple of it (UNIX seconds). */
export type Visit = (target: number, at: number) => RollupSink

/**
 * Visits all calls that finished in a period, most of them as rollups. Rollups are not used while they are stale: what is
 * visited are the calls' rows as they are when this begins, or later.
 *
 * @throws {StoreError} when the store cannot be read now
 */
export async function readRollups(store: RowReader, query: RollupsQuery, visit: Visit): Promise<void> {
  const { period, numbers, each, isAll, width, labels, aborted } = query
  if (numbers.length === 0) return
  const calls = (part: Period) =>
    readCalls(store, { period: part, numbers, labels, aborted }, (row) => {
      const at = beginOf(Number(row['finished']), width)
      addCall(visit(each ? Number(row['target']) : ALL_TARGETS, at), row, width)
    })
  const inner = {
    from: Math.ceil(period.from / QUARTER_HOUR_SECONDS) * QUARTER_HOUR_SECONDS,
    to: Math.floor(period.to / QUARTER_HOUR_SECONDS) * QUARTER_HOUR_SECONDS,
  }
  if (width < QUARTER_HOUR_SECONDS || inner.from >= inner.to) return calls(period)
  await calls({ from: period.from, to: inner.from })
  await calls({ from: inner.to, to: period.to })
  const isTogether = isAll && !each
  const stale = await staleQuarters(store, inner, isTogether ? undefined : numbers)
  for (const part of periodsOf([...stale], QUARTER_HOUR_SECONDS)) await calls(part)

  const only = labels && new Set(labels)
  const read = { numbers: isTogether ? [ALL_TARGETS] : numbers, labels, aborted }
  for (const [of, begins] of usableRollups(inner, stale, width)) {
    for (const part of periodsOf(begins, of)) {
      await readEncoded(store, { ...read, period: part }, of, (target, at, bytes) => {
        const sink = visit(each ? target : ALL_TARGETS, beginOf(at, width))
        readRollup(bytes, partOf(sink, width, { at, width: of }), only)
      })
    }
  }
}

/** What covers all quarters of a period but the stale ones, with the largest rollups up to a width: when they begin, by their width. */
function usableRollups(period: Period, stale: ReadonlySet<number>, width: number): Map<number, number[]> {
  const widths = WIDTHS.filter((of) => of <= width).toReversed()
  const usable = new Map(widths.map((of): [number, number[]] => [of, []]))
  const cover = ({ from, to }: Period, [of, ...shorter]: readonly number[]) => {
    if (of === undefined) return
    for (let at = beginOf(from, of); at < to; at += of) {
      const isWhole = at >= from && at + of <= to && !isAnyStale(at, of)
      if (isWhole) usable.get(of)!.push(at)
      else cover({ from: Math.max(from, at), to: Math.min(to, at + of) }, shorter)
    }
  }
  const isAnyStale = (at: number, of: number) => {
    for (let quarter = at; quarter < at + of; quarter += QUARTER_HOUR_SECONDS) if (stale.has(quarter)) return true
    return false
  }
  cover(period, widths)
  return usable
}

type Read = {
  period: Period
  numbers: readonly number[]
  /** The codes of the labels that are read; undefined for all. */
  labels?: readonly number[] | undefined
  aborted?: AbortSignal | undefined
}

/** Reads the calls that finished in a period, some at a time, with their target and {@link ROLLED_COLUMNS}. */
export async function readCalls(
  store: RowReader,
  { period: { from, to }, numbers, labels, aborted }: Read,
  take: (row: ReadRow) => void,
): Promise<void> {
  aborted?.throwIfAborted()
  if (from >= to) return
  const parts = Math.ceil((await countFinished(store, { numbers }, { from, to })) / CALLS_A_PART)
  const length = (to - from) / parts
  for (let i = 0; i < parts; i++) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const [begin, end] = [from + i * length, i === parts - 1 ? to : from + (i + 1) * length]
    const rows = await store.rows(
      `SELECT target, ${ROLLED_COLUMNS} FROM callwatch.targets CROSS JOIN callwatch.calls
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
  take: (target: number, at: number, bytes: Uint8Array) => void,
): Promise<void> {
  const length =
    Math.max(1, Math.floor((labels === undefined ? TOTALS_A_PART : ROLLUPS_A_PART) / numbers.length)) * width
  for (let { from } = period; from < period.to; from += length) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const rows = await store.rows(
      `SELECT target, at, ${labels === undefined ? 'without_labels' : 'by_labels'} AS bytes FROM callwatch.rollups
      WHERE target IN (${numbers.join(', ')}) AND width = ${width}
        AND at >= ${add(from)} AND at < ${add(Math.min(period.to, from + length))}`,
      args,
    )
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both schemas have bytes
    for (const { target, at, bytes } of rows) take(Number(target), Number(at), bytes as Uint8Array)
  }
}

/** The quarters of an hour in a period that are stale of any of these targets, in order; without numbers, of any there was. */
async function staleQuarters(
  store: RowReader,
  { from, to }: Period,
  numbers: readonly number[] | undefined,
): Promise<Set<number>> {
  const { args, add } = queryArguments()
  const rows = await store.rows(
    `SELECT DISTINCT quarter FROM callwatch.stale_rollups WHERE quarter >= ${add(from)} AND quarter < ${add(to)}
    ${numbers === undefined ? '' : `AND target IN (${numbers.join(', ')})`} ORDER BY quarter`,
    args,
  )
  return new Set(rows.map(({ quarter }) => Number(quarter)))
}

/** Times of one width that begin at these moments, in as few periods as possible. */
function periodsOf(begins: readonly number[], width: number): Period[] {
  const periods: Period[] = []
  for (const from of begins.toSorted((a, b) => a - b)) {
    const last = periods.at(-1)
    if (last?.to === from) last.to += width
    else periods.push({ from, to: from + width })
  }
  return periods
}
