import { orUndefined } from './call-fields.ts'
import { finalStatusOf, labelCode, labelsOfCode, statusCode } from './call-codes.ts'
import type { FinalStatus, Labels } from './call.ts'
import { MARK, type Finish, type TrackedCall } from './tracked-call.ts'

/** How many calls finished in a window, by final status. */
export type FinishedCounts = Record<FinalStatus | 'total', number>

/** The fields of a finished call that windows need. */
export type FinishedCall = Omit<Finish, 'known' | 'knownHostTime'>

/**
 * `n` calls that finished with the same status and labels, all with a recording or all without one. In a list of several, `n` may be
 * negative.
 */
export type Tally = {
  readonly status: FinalStatus
  readonly labels: Labels
  readonly isRecorded: boolean
  readonly n: number
}

/** The calls that finished recently, for windows. Windows are UNIX seconds, both ends included. */
export type FinishedCalls = {
  /** The calls of a window. The cost depends on the minutes of the window, not on its calls. */
  tally: (from: number, to: number) => Tally[]
  /** The calls of a window, sorted by when they finished. */
  between: (from: number, to: number) => FinishedCall[]
}

/** The calls of earlier periods, such as the same hours of the last weeks. */
export type EarlierCalls<Finished = FinishedCalls> = {
  /** The calls that finished in the periods, and perhaps others. */
  finished: Finished
  periods: readonly Period[]
  /** The times for which not all calls are known. */
  gaps: readonly Period[]
}

/** UNIX seconds by the service's clock. */
export type Period = { readonly from: number; readonly to: number }

/** A finished call with other values than before. */
export type ChangedFinish = Record<'before' | 'after', FinishedCall & { readonly isRecorded: boolean }>

/** Finished calls that can grow, in place. */
export type KeptFinishes = FinishedCalls & {
  add: (finish: FinishedCall, isRecorded?: boolean) => void
  /** Removes a call that was added. Nothing if it was dropped. */
  remove: (finish: FinishedCall, isRecorded?: boolean) => void
  /** Drops the minutes that ended before a time (UNIX seconds). */
  dropBefore: (time: number) => void
}

const MINUTE = 60

/** The calls of one minute, each as WIDTH numbers; NaN means unknown. Objects would take three times as much memory. */
type Minute = { tallies: Map<number, number>; packed: number[] }
const WIDTH = 9
/** The index of the code for labels and status. That of a call with a recording has the bit RECORDED. */
const CODE = 8
const RECORDED = 128

export function keptFinishes(finishes: Iterable<FinishedCall> = []): KeptFinishes {
  const minutes = new Map<number, Minute>()
  let [first, last] = [Infinity, -Infinity]

  /** The minutes of a window in which calls may have finished, in order. */
  function minuteNumbersIn(from: number, to: number): number[] {
    const begin = Math.max(first, minuteOf(from))
    const end = Math.min(last, minuteOf(to))
    // A call with a time far in the future can make the window longer than all known minutes.
    if (end - begin < minutes.size) return Array.from({ length: Math.max(0, end - begin + 1) }, (_, i) => begin + i)
    return [...minutes.keys()].filter((number) => number >= begin && number <= end).toSorted((a, b) => a - b)
  }

  function* minutesOf(from: number, to: number): Generator<{ minute: Minute; isInside: boolean }> {
    for (const number of minuteNumbersIn(from, to)) {
      const minute = minutes.get(number)
      if (minute === undefined) continue
      yield { minute, isInside: number * MINUTE >= from && (number + 1) * MINUTE <= to }
    }
  }

  const kept: KeptFinishes = {
    add: (finish, isRecorded) => {
      const number = minuteOf(finish.at)
      let minute = minutes.get(number)
      if (minute === undefined) {
        minute = { tallies: new Map(), packed: [] }
        minutes.set(number, minute)
        first = Math.min(first, number)
        last = Math.max(last, number)
      }
      const numbers = numbersOf(finish, isRecorded)
      minute.packed.push(...numbers)
      increase(minute.tallies, numbers[CODE]!, 1)
    },
    remove: (finish, isRecorded) => {
      const minute = minutes.get(minuteOf(finish.at))
      if (minute !== undefined) removeFrom(minute, numbersOf(finish, isRecorded))
    },
    dropBefore: (time) => {
      const oldest = minuteOf(time)
      if (first >= oldest) return
      for (const number of minutes.keys()) if (number < oldest) minutes.delete(number)
      first = oldest
    },
    tally: (from, to) => {
      const tallies = new Map<number, number>()
      for (const { minute, isInside } of minutesOf(from, to)) {
        if (isInside) for (const [code, n] of minute.tallies) increase(tallies, code, n)
        else for (const i of indexesIn(minute, from, to)) increase(tallies, minute.packed[i + CODE]!, 1)
      }
      return Array.from(tallies, ([code, n]) => ({ ...kindOf(code), isRecorded: (code & RECORDED) !== 0, n }))
    },
    between: (from, to) =>
      [...minutesOf(from, to)].flatMap(({ minute }) =>
        indexesIn(minute, from, to)
          .map((i) => finishAt(minute, i))
          .toSorted((a, b) => a.at - b.at),
      ),
  }
  for (const finish of finishes) kept.add(finish)
  return kept
}

/** Finished calls together with some that were not added yet, and with the changes of both that were not made yet. */
export function withFinishes(
  finished: FinishedCalls,
  added: readonly FinishedCall[],
  changed: readonly ChangedFinish[],
): FinishedCalls {
  if (added.length + changed.length === 0) return finished
  const more = keptFinishes(added)
  const changes = changed.flatMap(({ before, after }) => [
    { ...before, n: -1 },
    { ...after, n: 1 },
  ])
  return {
    tally: (from, to) => {
      const within = changes.filter(({ at }) => at >= from && at <= to)
      return [...finished.tally(from, to), ...more.tally(from, to), ...within]
    },
    between: (from, to) => {
      const kept = keptFinishes([...finished.between(from, to), ...more.between(from, to)])
      // Without recordings, which these calls do not have.
      for (const { before, after } of changed) {
        kept.remove(before)
        kept.add(after)
      }
      return kept.between(from, to)
    },
  }
}

/** Gives calls that were added their new values. The cost is that of the calls of their minutes. */
export function changeAll(kept: KeptFinishes, changed: readonly ChangedFinish[]): void {
  for (const { before, after } of changed) {
    kept.remove(before, before.isRecorded)
    kept.add(after, after.isRecorded)
  }
}

/** Those that finished at a time (UNIX seconds) or later. */
export function finishedSince({ tally, between }: FinishedCalls, since: number): FinishedCalls {
  return {
    tally: (from, to) => tally(Math.max(from, since), to),
    between: (from, to) => between(Math.max(from, since), to),
  }
}

/** Adds a call that has finished, with its recording if that was seen. */
export function addCall(kept: KeptFinishes, { finish, marks }: Pick<TrackedCall, 'finish' | 'marks'>): void {
  if (finish !== undefined) kept.add(finish, (marks & MARK.recordingSeen) !== 0)
}

/** The sums of tallies by final status. */
export function countByStatus(tallies: Iterable<Pick<Tally, 'status' | 'n'>>): FinishedCounts {
  const counts: FinishedCounts = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, total: 0 }
  for (const { status, n } of tallies) {
    counts[status] += n
    counts.total += n
  }
  return counts
}

/** The indexes of the calls of a minute that finished in a window. */
function indexesIn({ packed }: Minute, from: number, to: number): number[] {
  const indexes: number[] = []
  for (let i = 0; i < packed.length; i += WIDTH) if (packed[i]! >= from && packed[i]! <= to) indexes.push(i)
  return indexes
}

/** Removes one of the calls with these numbers: they are interchangeable. */
function removeFrom({ packed, tallies }: Minute, numbers: readonly number[]): void {
  // From the end: most often the call was added last.
  let i = packed.length - WIDTH
  while (i >= 0 && !numbers.every((number, at) => Object.is(number, packed[i + at]))) i -= WIDTH
  if (i < 0) return
  packed.splice(i, WIDTH)
  increase(tallies, numbers[CODE]!, -1)
}

function finishAt({ packed }: Minute, i: number): FinishedCall {
  return {
    ...kindOf(packed[i + CODE]!),
    at: packed[i]!,
    began: packed[i + 1]!,
    answerDelay: orUndefined(packed[i + 2]!),
    duration: orUndefined(packed[i + 3]!),
    audio: packed[i + 4]!,
    video: packed[i + 5]!,
    invited: Number.isNaN(packed[i + 6]!) ? undefined : { joined: packed[i + 6]!, absent: packed[i + 7]! },
  }
}

function numbersOf(finish: FinishedCall, isRecorded = false): readonly number[] {
  const { at, began, answerDelay = NaN, duration = NaN, audio, video } = finish
  const { joined = NaN, absent = NaN } = finish.invited ?? {}
  const code = tallyCode(finish) + (isRecorded ? RECORDED : 0)
  return [at, began, answerDelay, duration, audio, video, joined, absent, code]
}

function tallyCode({ status, labels }: Pick<Finish, 'status' | 'labels'>): number {
  return labelCode(labels) * 256 + statusCode(status)
}

function kindOf(code: number): Pick<Tally, 'status' | 'labels'> {
  return { status: finalStatusOf(code % RECORDED), labels: labelsOfCode(Math.floor(code / 256)) }
}

function increase(tallies: Map<number, number>, code: number, n: number): void {
  const sum = (tallies.get(code) ?? 0) + n
  if (sum === 0) tallies.delete(code)
  else tallies.set(code, sum)
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE)
}
