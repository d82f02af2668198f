import { ALL_LABELS } from '../ledger/call.ts'
import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import { conditionsOf, labelCodes, queryArguments, type LabelFilter } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished, type HistoryScope } from './history-scope.ts'
import { beginOf, readRollup, WIDTHS } from './rollup.ts'
import { SUMMED_COLUMNS, takeCall, type Take } from './sums.ts'

/** About how many calls one statement reads. */
const CALLS_A_PART = 2500
/** About how many rollups one statement reads: as totals, and by labels. Rollups by labels have some kilobytes each. */
const TOTALS_A_PART = 400
const ROLLUPS_A_PART = 50

/** The number under which the store has the rollups of all targets together. */
export const ALL_TARGETS = 0

export type RollupsQuery = {
  scope: HistoryScope
  period: Period
  /** Whether each target is visited on its own. If not, targets may be visited as {@link ALL_TARGETS}. */
  byTarget?: boolean
  /** The labels of the calls to visit. */
  filter?: LabelFilter
  /**
   * Whether each label set is visited on its own. If not, the codes of labels mean nothing, and totals are read if possible.
   */
  byLabels?: boolean
  /** The number of the part to which a time (UNIX seconds) belongs. */
  partAt: (at: number) => number
  /** How precisely the beginnings of calls matter (seconds). For less than a quarter of an hour, all calls are read. */
  unit?: number
  aborted?: AbortSignal | undefined
}

/**
 * Visits all calls that finished in a period, most of them as rollups. Stale rollups are not used. The result shows the
 * calls' rows as they are when this begins, or later.
 *
 * @param visit takes the calls of a target in one part
 * @throws {StoreError} if the store cannot be read now
 */
export async function readRollups(
  store: RowReader,
  query: RollupsQuery,
  visit: (part: number, target: number) => Take,
): Promise<void> {
  const { scope, filter = {}, byTarget, byLabels, partAt, unit, aborted } = query
  const labels = new Set(labelCodes(filter))
  const isTotal = byLabels !== true && labels.size === ALL_LABELS.length
  const numbers = scope.isAll && byTarget !== true ? [ALL_TARGETS] : scope.numbers
  for (const [width, periods] of await coverOf(store, query, numbers))
    for (const part of periods) {
      const isOfCalls = width === 0
      const found = isOfCalls
        ? callsIn(store, part, { numbers: scope.numbers, filter, aborted })
        : rollupsIn(store, part, { numbers, isTotal, width, aborted })
      for await (const rows of found)
        for (const row of rows) {
          const take = visit(partAt(Number(row[isOfCalls ? 'finished' : 'at'])), Number(row['target']))
          if (isOfCalls) takeCall(take, row, unit)
          else readRollup(take, row['bytes'], labels)
        }
    }
}

/**
 * From what each part of a period is read, by width: the largest usable rollups of these targets, or calls (0) if there are
 * none.
 */
async function coverOf(
  store: RowReader,
  { period, partAt, unit = QUARTER_HOUR_SECONDS }: RollupsQuery,
  numbers: readonly number[],
): Promise<Map<number, Period[]>> {
  const cover = new Map([0, ...WIDTHS].map((width): [number, Period[]] => [width, []]))
  if (!(period.from < period.to)) return cover
  const marked = await store.rows(
    `SELECT DISTINCT quarter FROM callwatch.stale_rollups WHERE quarter >= $1 AND quarter < $2
    ${numbers.includes(ALL_TARGETS) ? '' : `AND target IN (${numbers.join(', ')})`}`,
    [quarterHourOf(period.from), period.to],
  )
  const stale = marked.map(({ quarter }) => Number(quarter))
  const unusable = new Set(WIDTHS.flatMap((width) => stale.map((quarter) => `${beginOf(quarter, width)} ${width}`)))
  const put = (width: number, { from, to }: Period) => {
    const last = cover.get(width)!.at(-1)
    if (last?.to === from) last.to = to
    else cover.get(width)!.push({ from, to })
  }
  const add = ({ from, to }: Period, [width, ...shorter]: readonly number[]) => {
    if (width === undefined) return put(0, { from, to })
    for (let at = beginOf(from, width); at < to; at += width) {
      const part: Period = { from: Math.max(from, at), to: Math.min(to, at + width) }
      const isWhole = part.to - part.from === width && partAt(at) === partAt(at + width - 1)
      if (isWhole && !unusable.has(`${at} ${width}`)) put(width, part)
      else add(part, shorter)
    }
  }
  add(period, unit < QUARTER_HOUR_SECONDS ? [] : WIDTHS.toReversed())
  return cover
}

type Read = { numbers: readonly number[]; filter?: LabelFilter; aborted?: AbortSignal | undefined }

/** Reads the calls that finished in a period, some at a time, with their target and {@link SUMMED_COLUMNS}. */
export async function* callsIn(store: RowReader, { from, to }: Period, { numbers, filter = {}, aborted }: Read) {
  const parts = Math.ceil((await countFinished(store, { numbers }, { from, to })) / CALLS_A_PART)
  const length = (to - from) / parts
  for (let i = 0; i < parts; i++) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const [begin, end] = [from + i * length, i === parts - 1 ? to : from + (i + 1) * length]
    yield await store.rows(
      `SELECT target, ${SUMMED_COLUMNS} FROM callwatch.targets CROSS JOIN callwatch.calls
      WHERE ${conditionsOf(filter, numbers, add)} AND finished >= ${add(begin)} AND finished < ${add(end)}`,
      args,
    )
  }
}

/** Reads rollups as they are stored, even stale ones. */
async function* rollupsIn(
  store: RowReader,
  period: Period,
  { isTotal, numbers, width, aborted }: Read & { isTotal: boolean; width: number },
) {
  const length = Math.max(1, Math.floor((isTotal ? TOTALS_A_PART : ROLLUPS_A_PART) / numbers.length)) * width
  for (let { from } = period; from < period.to; from += length) {
    aborted?.throwIfAborted()
    yield await store.rows(
      `SELECT target, at, ${isTotal ? 'without_labels' : 'by_labels'} AS bytes FROM callwatch.rollups
      WHERE target IN (${numbers.join(', ')}) AND width = ${width} AND at >= $1 AND at < $2`,
      [from, Math.min(period.to, from + length)],
    )
  }
}
