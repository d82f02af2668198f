import { QUARTER } from '../ledger/usage.ts'
import type { ReadRow, RowReader } from '../store/row-reader.ts'
import { conditionsOf, queryArguments } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished } from './history-scope.ts'
import { addCall, HOUR, quarterIn, readRollup, ROLLED_COLUMNS, type RollupSink } from './rollup.ts'

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
  /** How much a visit has (seconds): below a quarter of an hour all calls are read, else hours or quarters where there are some. */
  width: number
  /** Whether a visit gets the labels of rollups; else their totals are enough. */
  byLabels: boolean
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
  const { period, numbers, each, isAll, width, byLabels, aborted } = query
  if (numbers.length === 0) return
  const calls = (part: Period) =>
    readCalls(store, { period: part, numbers, aborted }, (row) => {
      const at = Math.floor(Number(row['finished']) / width) * width
      addCall(visit(each ? Number(row['target']) : ALL_TARGETS, at), row, width)
    })
  const inner = { from: Math.ceil(period.from / QUARTER) * QUARTER, to: Math.floor(period.to / QUARTER) * QUARTER }
  if (width < QUARTER || inner.from >= inner.to) return calls(period)
  await calls({ from: period.from, to: inner.from })
  await calls({ from: inner.to, to: period.to })
  const isTogether = isAll && !each
  const stale = await staleQuarters(store, inner, isTogether ? undefined : numbers)
  for (const part of periodsOf([...stale], QUARTER)) await calls(part)

  const rollups = async (of: number, begins: readonly number[], take: (sink: RollupSink, at: number) => RollupSink) => {
    for (const part of periodsOf(begins, of)) {
      const read = { width: of, byLabels, numbers: isTogether ? [ALL_TARGETS] : numbers, period: part, aborted }
      await readEncoded(store, read, (target, at, bytes) => {
        const sink = visit(each ? target : ALL_TARGETS, Math.floor(at / width) * width)
        readRollup(bytes, take(sink, at))
      })
    }
  }
  const { hours, quarters } = wholeHours(inner, stale)
  if (width < HOUR) return rollups(QUARTER, [...hours.flatMap(quartersOf), ...quarters], (sink) => sink)
  await rollups(HOUR, hours, (sink) => sink)
  await rollups(QUARTER, quarters, (sink, at) => quarterIn(sink, (at - hourOf(at)) / QUARTER))
}

/** The hours of a period without a stale quarter, and the other quarters that are not stale. */
function wholeHours({ from, to }: Period, stale: ReadonlySet<number>): { hours: number[]; quarters: number[] } {
  const [hours, quarters]: [number[], number[]] = [[], []]
  for (let hour = hourOf(from); hour < to; hour += HOUR) {
    const usable = quartersOf(hour).filter((quarter) => quarter >= from && quarter < to && !stale.has(quarter))
    if (usable.length === HOUR / QUARTER) hours.push(hour)
    else quarters.push(...usable)
  }
  return { hours, quarters }
}

function quartersOf(hour: number): number[] {
  return [0, 1, 2, 3].map((i) => hour + i * QUARTER)
}

export function hourOf(at: number): number {
  return Math.floor(at / HOUR) * HOUR
}

type Read = { period: Period; numbers: readonly number[]; aborted?: AbortSignal | undefined }

/** Reads the calls that finished in a period, some at a time, with their target and {@link ROLLED_COLUMNS}. */
export async function readCalls(
  store: RowReader,
  { period: { from, to }, numbers, aborted }: Read,
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
      WHERE ${conditionsOf({}, numbers, add)} AND finished >= ${add(begin)} AND finished < ${add(end)}`,
      args,
    )
    for (const row of rows) take(row)
  }
}

/** Reads rollups as they are stored, stale or not. */
async function readEncoded(
  store: RowReader,
  { width, byLabels, numbers, period, aborted }: Read & Pick<RollupsQuery, 'width' | 'byLabels'>,
  take: (target: number, at: number, bytes: Uint8Array) => void,
): Promise<void> {
  const length = Math.max(1, Math.floor((byLabels ? ROLLUPS_A_PART : TOTALS_A_PART) / numbers.length)) * width
  for (let { from } = period; from < period.to; from += length) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const rows = await store.rows(
      `SELECT target, at, ${byLabels ? 'data' : 'total'} AS bytes FROM callwatch.rollups
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
