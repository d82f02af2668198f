import { finalStatusOf, labelCode, labelsOfCode, statusCode, statusOf } from './call-codes.ts'
import { type Finish, type EvictionTimes, type TrackedCall, evictAfter } from './tracked-call.ts'
import { ownTime } from './call.ts'

/**
 * A call without its id, as bytes in memory. An object would take three times as much memory.
 *
 * Numbers are 64-bit floats, because times may have fractions; NaN means unknown. Codes of one byte each and the marks
 * follow. Everything is little-endian.
 */
export const RECORD_BYTES = 160

const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]

/** The offset of each value in the record (bytes). */
const AT = {
  firstSeen: 0,
  initiatedAt: 8,
  startedAt: 16,
  endedAt: 24,
  totalParticipants: 32,
  joined: 40,
  counted: 48,
  retainUntil: 80,
  finishAt: 88,
  finishKnown: 96,
  finishKnownHost: 104,
  finishBegan: 112,
  finishAnswerDelay: 120,
  finishDuration: 128,
  finishAudio: 136,
  finishVideo: 144,
  phase: 152,
  status: 153,
  labels: 154,
  finishStatus: 155,
  finishLabels: 156,
  notFound: 157,
  marks: 158,
} as const

/** Stands for status and labels of the finish if the call has not finished. */
const NONE = 255

/** Writes a call's record at an offset. */
export function writeCall(view: DataView, offset: number, call: TrackedCall): void {
  const put = (at: number, value: number | undefined) => view.setFloat64(offset + at, value ?? NaN, true)
  put(AT.firstSeen, call.firstSeen)
  put(AT.initiatedAt, call.initiatedAt)
  put(AT.startedAt, call.startedAt)
  put(AT.endedAt, call.endedAt)
  put(AT.totalParticipants, call.totalParticipants)
  put(AT.joined, call.joined)
  for (let i = 0; i < 4; i++) put(AT.counted + 8 * i, call.counted[i])
  put(AT.retainUntil, call.retainUntil)
  view.setUint8(offset + AT.phase, PHASES.indexOf(call.phase))
  view.setUint8(offset + AT.status, statusCode(call.status))
  view.setUint8(offset + AT.labels, labelCode(call.labels))
  view.setUint8(offset + AT.notFound, call.notFound)
  view.setUint16(offset + AT.marks, call.marks, true)
  const { finish } = call
  view.setUint8(offset + AT.finishStatus, finish === undefined ? NONE : statusCode(finish.status))
  view.setUint8(offset + AT.finishLabels, finish === undefined ? NONE : labelCode(finish.labels))
  put(AT.finishAt, finish?.at)
  put(AT.finishKnown, finish?.known)
  put(AT.finishKnownHost, finish?.knownHostTime)
  put(AT.finishBegan, finish?.began)
  put(AT.finishAnswerDelay, finish?.answerDelay)
  put(AT.finishDuration, finish?.duration)
  put(AT.finishAudio, finish?.audio)
  put(AT.finishVideo, finish?.video)
}

/** Reads a call's record at an offset. */
export function readCall(view: DataView, offset: number, id: string): TrackedCall {
  const known = (at: number) => orUndefined(view.getFloat64(offset + at, true))
  return {
    id,
    phase: readPhase(view, offset),
    status: statusOf(view.getUint8(offset + AT.status)),
    labels: labelsOfCode(view.getUint8(offset + AT.labels)),
    firstSeen: view.getFloat64(offset + AT.firstSeen, true),
    initiatedAt: known(AT.initiatedAt),
    startedAt: known(AT.startedAt),
    endedAt: known(AT.endedAt),
    totalParticipants: known(AT.totalParticipants),
    joined: known(AT.joined),
    counted: [
      view.getFloat64(offset + AT.counted, true),
      view.getFloat64(offset + AT.counted + 8, true),
      view.getFloat64(offset + AT.counted + 16, true),
      view.getFloat64(offset + AT.counted + 24, true),
    ],
    finish: readFinish(view, offset),
    notFound: view.getUint8(offset + AT.notFound),
    retainUntil: known(AT.retainUntil),
    marks: readMarks(view, offset),
  }
}

/** Reads only the values that decide when the call is evicted. */
function readEvictionTimes(view: DataView, offset: number): EvictionTimes {
  const known = (at: number) => orUndefined(view.getFloat64(offset + at, true))
  const finishKnown = known(AT.finishKnown)
  return {
    phase: readPhase(view, offset),
    firstSeen: view.getFloat64(offset + AT.firstSeen, true),
    initiatedAt: known(AT.initiatedAt),
    startedAt: known(AT.startedAt),
    endedAt: known(AT.endedAt),
    retainUntil: known(AT.retainUntil),
    finish: finishKnown === undefined ? undefined : { known: finishKnown },
  }
}

function readMarks(view: DataView, offset: number): number {
  return view.getUint16(offset + AT.marks, true)
}

function readPhase(view: DataView, offset: number): TrackedCall['phase'] {
  return PHASES[view.getUint8(offset + AT.phase)]!
}

/** Reads only the finish; undefined if the call has not finished. */
export function readFinish(view: DataView, offset: number): Finish | undefined {
  const status = view.getUint8(offset + AT.finishStatus)
  if (status === NONE) return undefined
  const number = (at: number) => view.getFloat64(offset + at, true)
  return {
    status: finalStatusOf(status),
    labels: labelsOfCode(view.getUint8(offset + AT.finishLabels)),
    at: number(AT.finishAt),
    known: number(AT.finishKnown),
    knownHostTime: number(AT.finishKnownHost),
    began: number(AT.finishBegan),
    answerDelay: orUndefined(number(AT.finishAnswerDelay)),
    duration: orUndefined(number(AT.finishDuration)),
    audio: number(AT.finishAudio),
    video: number(AT.finishVideo),
  }
}

function orUndefined(number: number): number | undefined {
  return Number.isNaN(number) ? undefined : number
}

export type TrackedCalls = ReturnType<typeof trackedCalls>

/** How many calls a block holds. There may be thousands of targets with few calls, which should need little memory. */
const BLOCK = 64

/**
 * The tracked calls of a target, by id. Changed in place. Keeps calls as records in blocks of memory. As objects, a million
 * calls would take three times as much memory, and slow down every garbage collection.
 */
export function trackedCalls() {
  const slots = new Map<string, number>()
  /** The id in each slot, so that all copies of a call share one string. */
  const ids: (string | undefined)[] = []
  const free: number[] = []
  const blocks: DataView[] = []
  const blockOf = (slot: number) => (blocks[Math.floor(slot / BLOCK)] ??= newBlock())
  const offsetOf = (slot: number) => (slot % BLOCK) * RECORD_BYTES
  const read = (slot: number, id: string) => readCall(blockOf(slot), offsetOf(slot), id)

  /** The slot of a call, or a new slot. */
  function slotFor(id: string): number {
    let slot = slots.get(id)
    if (slot === undefined) {
      slot = free.pop() ?? ids.length
      slots.set(id, slot)
      ids[slot] = id
    }
    return slot
  }

  function* values(): Generator<TrackedCall> {
    for (const [slot, id] of ids.entries()) if (id !== undefined) yield read(slot, id)
  }

  return {
    get size(): number {
      return slots.size
    },
    has: (id: string) => slots.has(id),
    /** Returns a new object each time. */
    get: (id: string) => {
      const slot = slots.get(id)
      return slot === undefined ? undefined : read(slot, ids[slot]!)
    },
    phase: (id: string) => {
      const slot = slots.get(id)
      return slot === undefined ? undefined : readPhase(blockOf(slot), offsetOf(slot))
    },
    set: (call: TrackedCall) => {
      const slot = slotFor(call.id)
      writeCall(blockOf(slot), offsetOf(slot), call)
    },
    delete: (id: string) => {
      const slot = slots.get(id)
      if (slot === undefined) return false
      ids[slot] = undefined
      free.push(slot)
      return slots.delete(id)
    },
    values,
    /** The newest and the oldest wanted calls by their own times (UNIX seconds), at most `count` of each. */
    outermost: (count: number, isWanted: (id: string, time: number) => boolean) => {
      const outermost = outermostSlots(count)
      for (const [slot, id] of ids.entries()) {
        const time = id === undefined ? undefined : ownTime(readEvictionTimes(blockOf(slot), offsetOf(slot)))
        if (id !== undefined && time !== undefined && isWanted(id, time)) outermost.add(slot, time)
      }
      return outermost.slots().map((slot) => read(slot, ids[slot]!))
    },
    /** The ids of calls that the horizon (UNIX seconds) has passed. */
    evictable: (horizon: number) =>
      ids.flatMap((id, slot) =>
        id !== undefined && evictAfter(readEvictionTimes(blockOf(slot), offsetOf(slot))) < horizon ? id : [],
      ),
  }
}

/** Keeps the slots of the `count` newest and the `count` oldest times. */
function outermostSlots(count: number) {
  let newest: { slot: number; time: number }[] = []
  let oldest: { slot: number; time: number }[] = []
  return {
    add: (slot: number, time: number): void => {
      // If times are equal, the later slot counts as newer. So no slot is in both lists if there are enough.
      if (newest.length < count || time >= newest.at(-1)!.time)
        newest = [{ slot, time }, ...newest].toSorted((a, b) => b.time - a.time).slice(0, count)
      if (oldest.length < count || time < oldest[0]!.time)
        oldest = [{ slot, time }, ...oldest].toSorted((a, b) => b.time - a.time).slice(-count)
    },
    slots: () => [...new Set([...newest, ...oldest].map(({ slot }) => slot))],
  }
}

function newBlock(): DataView {
  return new DataView(new ArrayBuffer(BLOCK * RECORD_BYTES))
}
