import { ALL_LABELS } from '../ledger/call.ts'
import { QUARTER } from '../ledger/usage.ts'
import type { ReadRow } from '../store/row-reader.ts'

/*
 * A rollup is what the history needs of the calls that finished in a quarter of an hour, or in an hour: sums, by labels and
 * status, and histograms, by labels. Rollups are added up: an hour's from quarters, that of all targets from each one's.
 */

/** Rollups are of a quarter of an hour, or of an hour (seconds). */
export const HOUR = 3600

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
 * What a call has in histograms: how long it lasted and rang, and how many ends of a width it was in progress at. A call that
 * began and finished within the same quarter has crossed none.
 */
export const HISTOGRAMS = { duration: 0, answerDelay: 512, crossed: 1024 } as const
/** The classes of all histograms of a set of labels. */
export const CLASSES = 1792
const MAX_CROSSED = CLASSES - HISTOGRAMS.crossed - 1

/** Takes what rollups and calls have. */
export type RollupSink = {
  /** @param labels and `status` by their codes (call-codes.ts, history-columns.ts) */
  add: (labels: number, status: number, amounts: Amounts) => void
  /** @param entry the offset of its histogram ({@link HISTOGRAMS}) and the class */
  count: (labels: number, entry: number, calls: number) => void
}

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
  return each === 0 ? 0 : Number(Math.exp((each - SHORTEST_CLASS + 0.5) / CLASSES_A_FACTOR).toPrecision(3))
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
  if (duration !== null) sink.count(labels, HISTOGRAMS.duration + classOf(Number(duration)), 1)
  if (delay !== null) sink.count(labels, HISTOGRAMS.answerDelay + classOf(Number(delay)), 1)
  const crossed = Math.floor(finished / width) - Math.floor(began / width)
  if (crossed > 0) sink.count(labels, HISTOGRAMS.crossed + Math.min(MAX_CROSSED, crossed), 1)
}

/** A sink for a quarter of an hour, the first of which is 0, that gives an hour's sink the quarter's part of it. */
export function quarterIn(hour: RollupSink, quarter: number): RollupSink {
  return {
    add: hour.add,
    count: (labels, entry, calls) => {
      if (entry < HISTOGRAMS.crossed) hour.count(labels, entry, calls)
      else {
        const crossed = Math.ceil((entry - HISTOGRAMS.crossed - quarter) / (HOUR / QUARTER))
        if (crossed > 0) hour.count(labels, HISTOGRAMS.crossed + crossed, calls)
      }
    },
  }
}

/** A rollup that is added up: a sink, and what it has as bytes, which {@link readRollup} reads. */
export function newRollup(): RollupSink & { encoded: () => Uint8Array | undefined } {
  const cells = new Map<number, number[]>()
  const entries = new Map<number, number>()
  return {
    add: (labels, status, amounts) => {
      const cell = labels * STATUSES + status
      const known = cells.get(cell)
      if (known === undefined) cells.set(cell, [...amounts])
      else for (const [i, amount] of amounts.entries()) known[i]! += amount
    },
    count: (labels, entry, calls) => {
      const key = labels * CLASSES + entry
      entries.set(key, (entries.get(key) ?? 0) + calls)
    },
    /** Undefined of one that is empty. */
    encoded: () => (cells.size === 0 ? undefined : encode(cells, entries)),
  }
}

/** More than there are codes of statuses. */
const STATUSES = 16
/** Larger counts are several entries. */
const MAX_ENTRY = 65_535
/** A cell's labels, status and calls; the other amounts follow, unless all are 0. */
const CELL_BYTES = 6
const AMOUNT_BYTES = 8
const ENTRY_BYTES = 4
const WITH_AMOUNTS = 0x80

// All keys of entries are 16 bits.
if (ALL_LABELS.length * CLASSES > MAX_ENTRY) throw new RangeError('too many labels for the entries of rollups')

function encode(cells: ReadonlyMap<number, readonly number[]>, entries: ReadonlyMap<number, number>): Uint8Array {
  const others = AMOUNTS - 1
  const hasAmounts = (amounts: readonly number[]) => amounts.some((amount, i) => i > 0 && amount !== 0)
  let size = 2
  for (const amounts of cells.values()) size += CELL_BYTES + (hasAmounts(amounts) ? others * AMOUNT_BYTES : 0)
  for (const calls of entries.values()) size += Math.ceil(calls / MAX_ENTRY) * ENTRY_BYTES
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
    for (let i = 1; i <= others; i++, offset += AMOUNT_BYTES) view.setFloat64(offset, amounts[i]!)
  }
  for (const [key, calls] of entries) {
    for (let left = calls; left > 0; left -= MAX_ENTRY, offset += ENTRY_BYTES) {
      view.setUint16(offset, key)
      view.setUint16(offset + 2, Math.min(left, MAX_ENTRY))
    }
  }
  return bytes
}

/** Adds what a rollup has, as {@link newRollup} encoded it. */
export function readRollup(bytes: Uint8Array, sink: RollupSink): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 2
  for (let cells = view.getUint16(0); cells > 0; cells--) {
    const amounts: [number, number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0, 0]
    const [labels, status] = [view.getUint8(offset), view.getUint8(offset + 1)]
    amounts[0] = view.getUint32(offset + 2)
    offset += CELL_BYTES
    if ((status & WITH_AMOUNTS) !== 0)
      for (let i = 1; i < AMOUNTS; i++, offset += AMOUNT_BYTES) amounts[i] = view.getFloat64(offset)
    sink.add(labels, status & ~WITH_AMOUNTS, amounts)
  }
  for (; offset < bytes.byteLength; offset += ENTRY_BYTES) {
    const key = view.getUint16(offset)
    sink.count(Math.floor(key / CLASSES), key % CLASSES, view.getUint16(offset + 2))
  }
}

/** Entries of histograms, each with its calls. */
export type Entries = readonly (readonly [entry: number, calls: number])[]

/** Those of one histogram, from the lowest class to the highest. */
export function entriesOf(
  histogram: 'duration' | 'answerDelay',
  entries: Iterable<readonly [number, number]>,
): Entries {
  const first = HISTOGRAMS[histogram]
  return [...entries]
    .filter(([entry]) => entry >= first && entry <= first + MAX_CLASS)
    .toSorted(([a], [b]) => a - b)
    .map(([entry, calls]) => [entry - first, calls])
}

export function callsIn(entries: Entries): number {
  return entries.reduce((sum, [, calls]) => sum + calls, 0)
}

/** The time that a share of the calls do not exceed (seconds), exact to 2%; null where there is no call. */
export function percentileOf(entries: Entries, share: number): number | null {
  const rank = Math.ceil(callsIn(entries) * share)
  let seen = 0
  for (const [each, calls] of entries) {
    seen += calls
    if (seen >= rank) return timeOf(each)
  }
  return null
}
