import { QUARTER } from '../ledger/usage.ts'
import type { ReadRow } from '../store/row-reader.ts'

/*
 * A rollup is what the history needs of the calls that finished in a quarter of an hour, in an hour or in three: sums by
 * labels and status, and histograms by labels. Rollups are added up: a longer one from shorter ones, that of all targets from
 * each one's. Beside it is its total, the same without labels, which is much smaller.
 */

/** Of how much a rollup is (seconds). Each begins at a multiple of its width, and consists of whole ones of the width before. */
export const WIDTHS = [QUARTER, 3600, 10_800] as const

/** When what has this width and contains a moment began (UNIX seconds). */
export function beginOf(at: number, width: number): number {
  return Math.floor(at / width) * width
}

/** The largest width of rollups that fits all of these times; undefined where none does. */
export function widthFor(times: readonly number[]): number | undefined {
  return WIDTHS.findLast((width) => times.every((time) => time % width === 0))
}

/** What is added up of the calls with the same labels and status: minutes, and the duration in seconds. */
export type Amounts = readonly [
  calls: number,
  late: number,
  audio: number,
  video: number,
  participantAudio: number,
  participantVideo: number,
  duration: number,
]
const AMOUNTS = 7

/**
 * What a call has in histograms: how long it lasted and rang, by classes of times, and at how many ends of a width it was in
 * progress: a call that began and finished within the same quarter has crossed none. An entry is the offset of its histogram and
 * the class, or that number.
 */
export const HISTOGRAMS = { duration: 0, answerDelay: 512, crossed: 1024 } as const
export type TimeHistogram = 'duration' | 'answerDelay'
/** An entry is 16 bits: 672 days of quarters. */
const MAX_CROSSED = 65_535 - HISTOGRAMS.crossed

/** Takes what rollups and calls have. */
export type RollupSink = {
  /** @param labels and `status` by their codes (call-codes.ts, history-columns.ts); of a total all labels are 0 */
  add: (labels: number, status: number, amounts: Amounts) => void
  /** Takes the histograms of calls with these labels; undefined where they are not wanted. */
  histograms: (labels: number) => CountEntry | undefined
}

/** @param entry the offset of its histogram ({@link HISTOGRAMS}) and the class */
export type CountEntry = (entry: number, calls: number) => void

/** So long after its end a call counts as noticed late (seconds). */
const LATE_SECONDS = 300

/** Classes of times: one is e^(1/26) wide, so its middle is at most 2% off. */
const CLASSES_A_FACTOR = 26
const SHORTEST = 0.01
const SHORTEST_CLASS = 1 - Math.floor(Math.log(SHORTEST) * CLASSES_A_FACTOR)
const MAX_CLASS = HISTOGRAMS.answerDelay - 1

function classOf(seconds: number): number {
  if (!(seconds > SHORTEST)) return 0
  return Math.min(MAX_CLASS, Math.floor(Math.log(seconds) * CLASSES_A_FACTOR) + SHORTEST_CLASS)
}

/** The time that stands for those of a class (seconds). */
function timeOf(each: number): number {
  return each === 0 ? 0 : Number(Math.exp((each - SHORTEST_CLASS + 0.5) / CLASSES_A_FACTOR).toPrecision(4))
}

/** The columns of a call's row that rollups need. */
export const ROLLED_COLUMNS =
  'finished, status, labels, began, noticed, duration, answer_delay, audio, video, participant_audio, participant_video'

/**
 * Adds a call.
 *
 * @param row with {@link ROLLED_COLUMNS}
 * @param width of what it is added to (seconds)
 */
export function addCall(sink: RollupSink, row: ReadRow, width: number): void {
  const number = (column: string) => Number(row[column])
  const [labels, finished, began] = [number('labels'), number('finished'), number('began')]
  const [duration, delay] = [row['duration'], row['answer_delay']]
  sink.add(labels, number('status'), [
    1,
    number('noticed') - finished > LATE_SECONDS ? 1 : 0,
    number('audio'),
    number('video'),
    number('participant_audio'),
    number('participant_video'),
    Number(duration ?? 0),
  ])
  const count = sink.histograms(labels)
  if (count === undefined) return
  if (duration !== null) count(HISTOGRAMS.duration + classOf(Number(duration)), 1)
  if (delay !== null) count(HISTOGRAMS.answerDelay + classOf(Number(delay)), 1)
  const crossed = Math.floor(finished / width) - Math.floor(began / width)
  if (crossed > 0) count(HISTOGRAMS.crossed + Math.min(MAX_CROSSED, crossed), 1)
}

/**
 * A sink for a rollup that gives the sink of a longer one the part of it.
 *
 * @param width of the longer one, into which the part's fits
 */
export function partOf(whole: RollupSink, width: number, part: { at: number; width: number }): RollupSink {
  const before = (part.at % width) / part.width
  return {
    add: whole.add,
    histograms: (labels) => {
      const count = whole.histograms(labels)
      if (count === undefined || part.width === width) return count
      return (entry, calls) => {
        if (entry < HISTOGRAMS.crossed) return count(entry, calls)
        const crossed = Math.ceil((entry - HISTOGRAMS.crossed - before) / (width / part.width))
        if (crossed > 0) count(HISTOGRAMS.crossed + crossed, calls)
      }
    },
  }
}

/** A rollup and its total as bytes, which {@link readRollup} reads. */
export type EncodedRollup = { data: Uint8Array; total: Uint8Array }

/** A rollup that is added up. */
export type Rollup = RollupSink & { encoded: () => EncodedRollup | undefined }

/** An empty rollup, whose encoding is undefined while it is empty. */
export function newRollup(): Rollup {
  const { add, histograms, bytes } = newSums()
  const total = newSums()
  return {
    add: (labels, status, amounts) => {
      add(labels, status, amounts)
      total.add(0, status, amounts)
    },
    histograms: (labels) => {
      const [own, all] = [histograms(labels), total.histograms(0)]
      return (entry, calls) => {
        own(entry, calls)
        all(entry, calls)
      }
    },
    encoded: () => {
      const data = bytes()
      return data && { data, total: total.bytes()! }
    },
  }
}

function newSums() {
  const cells = new Map<number, number[]>()
  const groups = new Map<number, Map<number, number>>()
  return {
    add: (labels: number, status: number, amounts: Amounts): void => {
      const cell = labels * STATUSES + status
      const known = cells.get(cell)
      if (known === undefined) cells.set(cell, [...amounts])
      else for (const [i, amount] of amounts.entries()) known[i]! += amount
    },
    histograms: (labels: number): CountEntry => {
      const entries = groups.get(labels) ?? new Map<number, number>()
      groups.set(labels, entries)
      return (entry, calls) => void entries.set(entry, (entries.get(entry) ?? 0) + calls)
    },
    bytes: () => (cells.size === 0 ? undefined : encode(cells, groups)),
  }
}

/** More than there are codes of statuses. */
const STATUSES = 16
/** Larger counts are several entries. */
const MAX_ENTRY = 65_535
/** A cell's labels, status and calls; the other amounts follow, unless all are 0. */
const CELL_BYTES = 6
const AMOUNT_BYTES = 8
const WITH_AMOUNTS = 0x80
/** The labels of a group and how many entries follow. */
const GROUP_BYTES = 3
const ENTRY_BYTES = 4

function encode(
  cells: ReadonlyMap<number, readonly number[]>,
  groups: ReadonlyMap<number, ReadonlyMap<number, number>>,
): Uint8Array {
  const hasAmounts = (amounts: readonly number[]) => amounts.some((amount, i) => i > 0 && amount !== 0)
  const parts = [...groups].map(([labels, entries]) => ({ labels, entries: [...entries].flatMap(inParts) }))
  let size = 2
  for (const amounts of cells.values()) size += CELL_BYTES + (hasAmounts(amounts) ? (AMOUNTS - 1) * AMOUNT_BYTES : 0)
  for (const { entries } of parts) size += GROUP_BYTES + entries.length * ENTRY_BYTES
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, cells.size)
  let offset = 2
  for (const [cell, amounts] of cells) {
    const withAmounts = hasAmounts(amounts)
    view.setUint8(offset, Math.floor(cell / STATUSES))
    view.setUint8(offset + 1, (cell % STATUSES) | (withAmounts ? WITH_AMOUNTS : 0))
    view.setUint32(offset + 2, amounts[0]!)
    offset += CELL_BYTES
    if (!withAmounts) continue
    for (let i = 1; i < AMOUNTS; i++, offset += AMOUNT_BYTES) view.setFloat64(offset, amounts[i]!)
  }
  for (const { labels, entries } of parts) {
    view.setUint8(offset, labels)
    view.setUint16(offset + 1, entries.length)
    offset += GROUP_BYTES
    for (const [entry, calls] of entries) {
      view.setUint16(offset, entry)
      view.setUint16(offset + 2, calls)
      offset += ENTRY_BYTES
    }
  }
  return bytes
}

function inParts([entry, calls]: readonly [number, number]): [number, number][] {
  const parts: [number, number][] = []
  for (let left = calls; left > 0; left -= MAX_ENTRY) parts.push([entry, Math.min(left, MAX_ENTRY)])
  return parts
}

/**
 * Adds what a rollup has, as {@link newRollup} encoded it.
 *
 * @param only the codes of the labels that are wanted; undefined for all
 */
export function readRollup(bytes: Uint8Array, sink: RollupSink, only?: ReadonlySet<number>): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 2
  for (let cells = view.getUint16(0); cells > 0; cells--) {
    const amounts: [number, number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0, 0]
    const [labels, status] = [view.getUint8(offset), view.getUint8(offset + 1)]
    amounts[0] = view.getUint32(offset + 2)
    offset += CELL_BYTES
    if ((status & WITH_AMOUNTS) !== 0)
      for (let i = 1; i < AMOUNTS; i++, offset += AMOUNT_BYTES) amounts[i] = view.getFloat64(offset)
    if (only?.has(labels) !== false) sink.add(labels, status & ~WITH_AMOUNTS, amounts)
  }
  while (offset < bytes.byteLength) {
    const labels = view.getUint8(offset)
    const count = only?.has(labels) === false ? undefined : sink.histograms(labels)
    const end = offset + GROUP_BYTES + view.getUint16(offset + 1) * ENTRY_BYTES
    if (count !== undefined)
      for (let at = offset + GROUP_BYTES; at < end; at += ENTRY_BYTES) count(view.getUint16(at), view.getUint16(at + 2))
    offset = end
  }
}

/** How many calls are in each class of all histograms, by entry. */
export type Entries = ArrayLike<number>

/** How many calls have a duration, or an answer delay. */
export function callsIn(histogram: TimeHistogram, entries: Entries): number {
  let calls = 0
  for (let each = 0; each <= MAX_CLASS; each++) calls += entries[HISTOGRAMS[histogram] + each]!
  return calls
}

/** The time that a share of the calls do not exceed (seconds), exact to 2%; null where there is no call. */
export function percentileOf(histogram: TimeHistogram, entries: Entries, share: number): number | null {
  let left = Math.ceil(callsIn(histogram, entries) * share)
  if (left === 0) return null
  let each = -1
  while (left > 0) left -= entries[HISTOGRAMS[histogram] + ++each]!
  return timeOf(each)
}
