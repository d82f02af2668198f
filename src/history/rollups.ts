import { PbfReader, PbfWriter } from 'pbf'
import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import { ALL_LABELS } from '../ledger/call.ts'
import type { RowReader } from '../store/sql.ts'
import type { RollupStore, RollupUpdate } from '../store/store.ts'
import { add, KEYS, type Sums, type AddToSum, SUMMED_COLUMNS, sumCall } from './sums.ts'
import { labelCodes, selectCalls, type AddArgument, type LabelFilter } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished, type HistoryScope } from './history-scope.ts'

/**
 * The sums, by labels, of the calls that finished in a quarter of an hour, in one hour or in three hours. Longer rollups are
 * sums of shorter ones. The rollups of all targets are sums of each target's rollups.
 */
type Rollup = ReturnType<typeof newRollup>

/**
 * The lengths of rollups (seconds). Each rollup begins at a multiple of its length, and consists of whole rollups of the next
 * smaller length.
 */
export const WIDTHS = [QUARTER_HOUR_SECONDS, 3600, 10_800] as const

/** The start of the rollup of this width that contains a time (UNIX seconds). */
function beginOf(at: number, width: number): number {
  return Math.floor(at / width) * width
}

/** @param at when it begins (UNIX seconds) */
export function newRollup(at: number) {
  const groups = new Map<number, Sums>()
  const within = KEYS.began + at / QUARTER_HOUR_SECONDS
  const addToSum: AddToSum = (labels, key, n) => {
    // A call that began within the rollup is in progress neither at its start nor at its end.
    if (key >= within) return
    const sums = groups.get(labels) ?? new Map<number, number>()
    groups.set(labels, sums)
    add(sums, key, n)
  }
  return { at, groups, /** Adds a number to the rollup. */ addToSum }
}

/** Passes all sums of a rollup to `addToSum`. */
function sumRollup(addToSum: AddToSum, { groups }: Rollup): void {
  for (const [labels, sums] of groups) for (const [key, n] of sums) addToSum(labels, key, n)
}

/**
 * A rollup as bytes, and its total without labels, which is much smaller (all its label codes are 0). {@link readRollup}
 * reads both. Undefined for an empty rollup.
 */
export function encodeRollup(rollup: Rollup) {
  if (rollup.groups.size === 0) return undefined
  const total = newRollup(rollup.at)
  sumRollup((_labels, key, n) => total.addToSum(0, key, n), rollup)
  return { byLabels: encode(rollup), withoutLabels: encode(total) }
}

/*
 * A rollup in the encoding of Protocol Buffers is a sequence of groups. A group is the code of its labels, the number of
 * bytes that follow, and its sums in the order of their keys. A sum is twice the difference from the previous key, plus one
 * if the sum is not a whole number, and then the sum itself.
 */

function encode({ groups }: Rollup): Uint8Array {
  const bytes = new PbfWriter()
  for (const [labels, sums] of groups) {
    const group = new PbfWriter()
    let before = 0
    for (const [key, n] of [...sums].toSorted(([a], [b]) => a - b)) {
      const isWhole = Number.isInteger(n)
      group.writeVarint(2 * (key - before) + (isWhole ? 0 : 1))
      if (isWhole) group.writeVarint(n)
      else group.writeDouble(n)
      before = key
    }
    bytes.writeVarint(labels)
    bytes.writeBytes(group.finish())
  }
  return bytes.finish()
}

/**
 * Passes all sums of an encoded rollup ({@link encodeRollup}) to `addToSum`.
 *
 * @param column of a row; both databases return bytes
 * @param only the codes of the wanted labels; undefined for all
 */
export function readRollup(addToSum: AddToSum, column: unknown, only?: ReadonlySet<number>): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const bytes = new PbfReader(column as Uint8Array)
  while (bytes.pos < bytes.length) {
    const labels = bytes.readVarint()
    const end = bytes.readVarint() + bytes.pos
    if (only?.has(labels) === false) bytes.pos = end
    for (let key = 0; bytes.pos < end;) {
      const each = bytes.readVarint()
      key += Math.floor(each / 2)
      addToSum(labels, key, each % 2 === 0 ? bytes.readVarint() : bytes.readDouble())
    }
  }
}

/** About how many calls one statement reads. */
const CALLS_A_PART = 2500
/** About how many rollups one statement reads: as totals, and by labels. Rollups by labels have some kilobytes each. */
const TOTALS_A_PART = 400
const ROLLUPS_A_PART = 50

/** The number under which the store has the rollups of all targets together. */
export const ALL_TARGETS = 0

type RollupsQuery = {
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
  visit: (part: number, target: number) => AddToSum,
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
          const addToSum = visit(partAt(Number(row[isOfCalls ? 'finished' : 'at'])), Number(row['target']))
          if (isOfCalls) sumCall(addToSum, row, unit)
          else readRollup(addToSum, row['bytes'], labels)
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
    [quarterHourOf(period.from), Math.ceil(period.to)],
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
  add(period, unit >= QUARTER_HOUR_SECONDS ? WIDTHS.toReversed() : [])
  return cover
}

type Read = { numbers: readonly number[]; filter?: LabelFilter; aborted?: AbortSignal | undefined }

/** Reads the calls that finished in a period, some at a time, with their target and {@link SUMMED_COLUMNS}. */
async function* callsIn(store: RowReader, { from, to }: Period, { numbers, filter = {}, aborted }: Read) {
  const parts = Math.ceil((await countFinished(store, { numbers }, { from, to })) / CALLS_A_PART)
  const length = (to - from) / parts
  for (let i = 0; i < parts; i++) {
    aborted?.throwIfAborted()
    const [begin, end] = [from + i * length, i === parts - 1 ? to : from + (i + 1) * length]
    const within = (add: AddArgument) => `AND finished >= ${add(begin)} AND finished < ${add(end)}`
    yield await selectCalls(store, `target, ${SUMMED_COLUMNS}`, filter, numbers, within)
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

/** How long after its end a quarter of an hour is added up. By then most of its calls were noticed (seconds). */
const SETTLING_SECONDS = 300

/** A quarter of an hour of a target (UNIX seconds). */
export type RollupPosition = { quarter: number; target: number }

/**
 * Adds up the oldest quarter of an hour that has ended and whose rollups are stale, from its calls' rows. Also updates the
 * longer rollups and those of all targets together.
 *
 * @param now UNIX seconds
 * @param after everything up to this position was just added up
 * @returns the position up to which everything is added up; undefined if nothing was left
 * @throws {StoreError} if the store cannot be used now
 */
export async function updateRollups(
  store: RowReader & RollupStore,
  now: number,
  after: RollupPosition = { quarter: -1, target: -1 },
): Promise<RollupPosition | undefined> {
  const { saves, stale } = await store.staleRollups(after, Math.floor(now) - QUARTER_HOUR_SECONDS - SETTLING_SECONDS)
  if (stale.length === 0) return undefined
  const quarter = Number(stale[0]!['quarter'])
  const versions = stale.map(({ target, version }) => ({ target: Number(target), version: Number(version) }))
  const numbers = versions.map(({ target }) => target)
  let rollups = await quartersOf(store, quarter, numbers)
  const saved: RollupUpdate['rollups'][number][] = []
  for (const [i, width] of WIDTHS.entries()) {
    const [at, before] = [beginOf(quarter, width), WIDTHS[i - 1]]
    if (before !== undefined) {
      const known = await store.rows(
        `SELECT target, by_labels FROM callwatch.rollups
        WHERE target IN (${[...rollups.keys()].join(', ')}) AND width = ${before} AND at >= $1 AND at < $2 AND at <> $3`,
        [at, at + width, beginOf(quarter, before)],
      )
      const wholes = newRollups(rollups.keys(), at)
      for (const [target, part] of rollups) sumRollup(wholes.get(target)!.addToSum, part)
      for (const row of known) readRollup(wholes.get(Number(row['target']))!.addToSum, row['by_labels'])
      rollups = wholes
    }
    for (const [target, rollup] of rollups) saved.push({ target, width, at, encoded: encodeRollup(rollup) })
  }
  await store.saveRollups({ after: saves, quarter, versions, rollups: saved })
  return { quarter, target: numbers.at(-1)! }
}

/** The rollups of a quarter of an hour, added up from its calls: of these targets, and of all targets together. */
async function quartersOf(store: RowReader, quarter: number, numbers: readonly number[]) {
  const quarters = newRollups([ALL_TARGETS, ...numbers], quarter)
  const all = quarters.get(ALL_TARGETS)!
  for await (const rows of callsIn(store, { from: quarter, to: quarter + QUARTER_HOUR_SECONDS }, { numbers }))
    for (const row of rows) sumCall(quarters.get(Number(row['target']))!.addToSum, row)
  for (const number of numbers) sumRollup(all.addToSum, quarters.get(number)!)
  const others = await store.rows(
    `SELECT by_labels FROM callwatch.targets CROSS JOIN callwatch.rollups
    WHERE target = number AND width = ${QUARTER_HOUR_SECONDS} AND at = $1 AND NOT target IN (${numbers.join(', ')})`,
    [quarter],
  )
  for (const row of others) readRollup(all.addToSum, row['by_labels'])
  return quarters
}

function newRollups(numbers: Iterable<number>, at: number): ReadonlyMap<number, Rollup> {
  return new Map(Iterator.from(numbers).map((number) => [number, newRollup(at)]))
}
