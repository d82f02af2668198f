import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { ReadRow } from '../store/row-reader.ts'
import { classOf, HISTOGRAMS } from './histograms.ts'

/*
 * A rollup is what the history needs of the calls that finished in a quarter of an hour, in an hour or in three: sums by
 * labels and status, and histograms by labels. Rollups are added up: a longer one from shorter ones, that of all targets from
 * each one's. Beside it is its total, the same without labels, which is much smaller.
 */

/** Of how much a rollup is (seconds). Each begins at a multiple of its width, and consists of whole ones of the width before. */
export const WIDTHS = [QUARTER_HOUR_SECONDS, 3600, 10_800] as const

/** When what has this width and contains a moment began (UNIX seconds). */
export function beginOf(at: number, width: number): number {
  return Math.floor(at / width) * width
}

/** The largest width of rollups that fits all of these times; undefined where none does. */
export function widthFor(times: readonly number[]): number | undefined {
  return WIDTHS.findLast((width) => times.every((time) => time % width === 0))
}

/** What is added up of the calls with the same labels and status: minutes, and the duration in seconds. */
export type RollupAmounts = readonly [
  calls: number,
  late: number,
  audio: number,
  video: number,
  participantAudio: number,
  participantVideo: number,
  duration: number,
]

/** Takes what rollups and calls have. */
export type RollupSink = {
  /**
   * @param labels and `status` by their codes (call-codes.ts, history-columns.ts); of a total all labels are 0
   * @param amounts in an array that is used again for the next ones: a sink copies what it keeps
   */
  add: (labels: number, status: number, amounts: RollupAmounts) => void
  /** Takes the histograms of calls with these labels; undefined where they are not wanted. */
  histograms: (labels: number) => CountEntry | undefined
}

/** @param entry the offset of its histogram ({@link HISTOGRAMS}) and the class */
export type CountEntry = (entry: number, calls: number) => void

/** So long after its end a call counts as noticed late (seconds). */
const LATE_SECONDS = 300

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
  if (crossed > 0) count(HISTOGRAMS.crossed + crossed, 1)
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
export type EncodedRollup = { byLabels: Uint8Array; withoutLabels: Uint8Array }

/** A rollup that is added up. */
export type Rollup = RollupSink & {
  encoded: () => EncodedRollup | undefined
  /** Adds what it has. */
  addTo: (sink: RollupSink) => void
}

/** An empty rollup, whose encoding is undefined while it is empty. */
export function newRollup(): Rollup {
  const { add, histograms, bytes, addTo } = newSums()
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
      const byLabels = bytes()
      return byLabels && { byLabels, withoutLabels: total.bytes()! }
    },
    addTo,
  }
}

type AddedAmounts = [...RollupAmounts]

/** Of the calls with the same labels: amounts by status, and calls by entry of a histogram. */
type Group = { statuses: Map<number, AddedAmounts>; entries: Map<number, number> }

function newSums() {
  const groups = new Map<number, Group>()
  const groupOf = (labels: number): Group => {
    const group = groups.get(labels) ?? {
      statuses: new Map<number, AddedAmounts>(),
      entries: new Map<number, number>(),
    }
    groups.set(labels, group)
    return group
  }
  return {
    add: (labels: number, status: number, amounts: RollupAmounts): void => {
      const { statuses } = groupOf(labels)
      const known = statuses.get(status)
      if (known === undefined) statuses.set(status, [...amounts])
      else for (const [i, amount] of amounts.entries()) known[i]! += amount
    },
    histograms: (labels: number): CountEntry => {
      const { entries } = groupOf(labels)
      return (entry, calls) => void entries.set(entry, (entries.get(entry) ?? 0) + calls)
    },
    bytes: () => (groups.size === 0 ? undefined : encode(groups)),
    addTo: (sink: RollupSink): void => {
      for (const [labels, { statuses, entries }] of groups) {
        for (const [status, amounts] of statuses) sink.add(labels, status, amounts)
        const count = sink.histograms(labels)
        if (count !== undefined) for (const [entry, calls] of entries) count(entry, calls)
      }
    },
  }
}

/*
 * The bytes of a rollup are its groups, one after the other. A group is: its labels; how many bytes follow; how many statuses it
 * has; for each of these the status, which of the amounts after the calls are not 0 (bit 0 is the first of them), the calls, and
 * those amounts as 64-bit floats; then, to its end, for each entry of a histogram the difference from the entry before, and the
 * calls. All integers are varints of Protocol Buffers: seven bits a byte, the lowest first, and the eighth set where more follow.
 */

function encode(groups: ReadonlyMap<number, Group>): Uint8Array {
  const bytes: number[] = []
  for (const [labels, group] of groups) {
    const encoded = encodeGroup(group)
    putInteger(bytes, labels)
    putInteger(bytes, encoded.length)
    for (const byte of encoded) bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

function encodeGroup({ statuses, entries }: Group): number[] {
  const bytes: number[] = []
  putInteger(bytes, statuses.size)
  const float = new DataView(new ArrayBuffer(8))
  for (const [status, [calls, ...amounts]] of statuses) {
    putInteger(bytes, status)
    putInteger(
      bytes,
      amounts.reduce((bits, amount, i) => (amount === 0 ? bits : bits | (1 << i)), 0),
    )
    putInteger(bytes, calls)
    for (const amount of amounts) {
      if (amount === 0) continue
      float.setFloat64(0, amount)
      for (let i = 0; i < FLOAT_BYTES; i++) bytes.push(float.getUint8(i))
    }
  }
  let before = 0
  for (const [entry, calls] of [...entries].toSorted(([a], [b]) => a - b)) {
    putInteger(bytes, entry - before)
    putInteger(bytes, calls)
    before = entry
  }
  return bytes
}

const FLOAT_BYTES = 8

function putInteger(bytes: number[], integer: number): void {
  for (; integer >= 128; integer = Math.floor(integer / 128)) bytes.push((integer % 128) + 128)
  bytes.push(integer)
}

/**
 * Adds what a rollup has, as {@link newRollup} encoded it.
 *
 * @param only the codes of the labels that are wanted; undefined for all
 */
export function readRollup(bytes: Uint8Array, sink: RollupSink, only?: ReadonlySet<number>): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // One array for all: a chart reads tens of thousands.
  const amounts: [number, number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0, 0]
  const at = { view, offset: 0 }
  while (at.offset < bytes.byteLength) {
    const labels = takeInteger(at)
    const length = takeInteger(at)
    const end = at.offset + length
    if (only?.has(labels) === false) {
      at.offset = end
      continue
    }
    for (let left = takeInteger(at); left > 0; left--) {
      const [status, bits] = [takeInteger(at), takeInteger(at)]
      amounts[0] = takeInteger(at)
      for (let i = 1; i < amounts.length; i++) {
        const isZero = (bits & (1 << (i - 1))) === 0
        amounts[i] = isZero ? 0 : view.getFloat64(at.offset)
        if (!isZero) at.offset += FLOAT_BYTES
      }
      sink.add(labels, status, amounts)
    }
    const count = sink.histograms(labels)
    if (count !== undefined) {
      for (let entry = 0; at.offset < end;) {
        entry += takeInteger(at)
        count(entry, takeInteger(at))
      }
    }
    at.offset = end
  }
}

function takeInteger(at: { readonly view: DataView; offset: number }): number {
  let integer = 0
  for (let unit = 1; ; unit *= 128) {
    const byte = at.view.getUint8(at.offset++)
    if (byte < 128) return integer + byte * unit
    integer += (byte - 128) * unit
  }
}
