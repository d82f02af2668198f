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
  const calls = (part: Period, of: readonly number[]) =>
    readCalls(store, { period: part, numbers: of, aborted }, (row) => {
      const at = Math.floor(Number(row['finished']) / width) * width
      addCall(visit(each ? Number(row['target']) : ALL_TARGETS, at), row, width)
    })
  const inner = { from: Math.ceil(period.from / QUARTER) * QUARTER, to: Math.floor(period.to / QUARTER) * QUARTER }
  if (width < QUARTER || inner.from >= inner.to) return calls(period, numbers)
  await calls({ from: period.from, to: inner.from }, numbers)
  await calls({ from: inner.to, to: period.to }, numbers)
  const isTogether = isAll && !each
  const read = isTogether ? [ALL_TARGETS] : numbers
  const stale = await staleQuarters(store, inner, read)
  const keyOf = (target: number, quarter: number) => (isTogether ? `${quarter}` : `${quarter} ${target}`)
  const isStale = new Set(stale.map(({ target, quarter }) => keyOf(target, quarter)))
  for (const { period: part, targets } of periodsOf(stale)) await calls(part, isTogether ? numbers : targets)

  const hasHour = (target: number, hour: number) =>
    width >= HOUR &&
    hour >= inner.from &&
    hour + HOUR <= inner.to &&
    QUARTERS.every((i) => !isStale.has(keyOf(target, hour + i * QUARTER)))
  const visited = (target: number) => (each ? target : ALL_TARGETS)
  const rollups = (of: number, part: Period, take: (target: number, at: number, bytes: Uint8Array) => void) =>
    readEncoded(store, { width: of, byLabels, numbers: read, period: part, aborted }, take)
  if (width >= HOUR) {
    await rollups(HOUR, inner, (target, hour, bytes) => {
      if (hasHour(target, hour)) readRollup(bytes, visit(visited(target), hour))
    })
  }
  const [firstHour, lastHour] = [hourOf(inner.from), hourOf(inner.to)]
  const hours = [...(firstHour < inner.from ? [firstHour] : []), ...stale.map(({ quarter }) => hourOf(quarter)), ...(lastHour < inner.to ? [lastHour] : [])] // oxfmt-ignore
  const quarters = width < HOUR ? [inner] : joined([...new Set(hours)].map((from) => ({ from, to: from + HOUR })))
  for (const part of quarters) {
    const within = { from: Math.max(part.from, inner.from), to: Math.min(part.to, inner.to) }
    await rollups(QUARTER, within, (target, quarter, bytes) => {
      const hour = hourOf(quarter)
      if (isStale.has(keyOf(target, quarter)) || hasHour(target, hour)) return
      const at = width < HOUR ? quarter : hour
      const sink = visit(visited(target), at)
      readRollup(bytes, width < HOUR ? sink : quarterIn(sink, (quarter - hour) / QUARTER))
    })
  }
}

const QUARTERS = [0, 1, 2, 3] as const

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

type Stale = { target: number; quarter: number }

/** Of all targets together a quarter is stale where it is of any of them, also of one that was reset. */
async function staleQuarters(store: RowReader, { from, to }: Period, numbers: readonly number[]): Promise<Stale[]> {
  const { args, add } = queryArguments()
  const rows = await store.rows(
    `SELECT target, quarter FROM callwatch.stale_rollups WHERE quarter >= ${add(from)} AND quarter < ${add(to)}
    ${numbers[0] === ALL_TARGETS ? '' : `AND target IN (${numbers.join(', ')})`} ORDER BY quarter, target`,
    args,
  )
  return rows.map(({ target, quarter }) => ({ target: Number(target), quarter: Number(quarter) }))
}

/** Stale quarters as periods that the same targets have, the oldest first. */
function periodsOf(stale: readonly Stale[]): { period: Period; targets: number[] }[] {
  const periods: { period: Period; targets: number[] }[] = []
  for (const [quarter, of] of Map.groupBy(stale, ({ quarter: each }) => each)) {
    const targets = of.map(({ target }) => target)
    const last = periods.at(-1)
    if (last?.period.to === quarter && last.targets.join() === targets.join()) last.period.to += QUARTER
    else periods.push({ period: { from: quarter, to: quarter + QUARTER }, targets })
  }
  return periods
}

/** The same times in as few periods as possible. */
function joined(periods: readonly Period[]): Period[] {
  const result: Period[] = []
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last?.to === from) last.to = to
    else result.push({ from, to })
  }
  return result
}
