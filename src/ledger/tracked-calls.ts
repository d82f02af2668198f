import { phaseOf } from './call-codes.ts'
import { CALL_COLUMNS, CALL_FIELDS, callOfNumbers, orUndefined, type CallColumn } from './call-fields.ts'
import { type EvictionTimes, type TrackedCall, evictAfter } from './tracked-call.ts'
import { ownTime } from './call.ts'

/*
 * A call without its id, as bytes in memory: its fields in the order of CALL_FIELDS. An object would take three times as much
 * memory.
 *
 * Numbers are 64-bit floats, because times may have fractions; NaN means unknown. Codes have one byte, the marks two. Everything
 * is little-endian.
 */
let size = 0
const LAYOUT = CALL_COLUMNS.map((name, place) => {
  const [, bytes, valueOf] = CALL_FIELDS[name]
  return { name, place, bytes, valueOf, at: (size += bytes) - bytes }
}).filter(({ bytes }) => bytes > 0)
export const RECORD_BYTES = size

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the keys
const OFFSET = Object.fromEntries(LAYOUT.map(({ name, at }) => [name, at])) as Record<CallColumn, number>

/** Writes a call's record at an offset. */
export function writeCall(view: DataView, offset: number, call: TrackedCall): void {
  for (const { at, bytes, valueOf } of LAYOUT) {
    const number = Number(valueOf(call) ?? NaN)
    if (bytes === 8) view.setFloat64(offset + at, number, true)
    else if (bytes === 2) view.setUint16(offset + at, number, true)
    else view.setUint8(offset + at, number)
  }
}

/** The numbers of the call that is being read. */
const numbers = new Float64Array(CALL_COLUMNS.length)

/** Reads a call's record at an offset. */
export function readCall(view: DataView, offset: number, id: string, session?: string): TrackedCall {
  for (const { at, bytes, place } of LAYOUT) {
    if (bytes === 8) numbers[place] = view.getFloat64(offset + at, true)
    else numbers[place] = bytes === 2 ? view.getUint16(offset + at, true) : view.getUint8(offset + at)
  }
  return callOfNumbers(id, numbers, session)
}

/** Reads only the values that decide when the call is evicted. */
function readEvictionTimes(view: DataView, offset: number): EvictionTimes {
  const known = (at: number) => orUndefined(view.getFloat64(offset + at, true))
  const finishKnown = known(OFFSET.finish_known)
  return {
    phase: readPhase(view, offset),
    firstSeen: view.getFloat64(offset + OFFSET.first_seen, true),
    initiatedAt: known(OFFSET.initiated),
    startedAt: known(OFFSET.started),
    endedAt: known(OFFSET.ended),
    retainUntil: known(OFFSET.retain_until),
    finish: finishKnown === undefined ? undefined : { known: finishKnown },
  }
}

function readPhase(view: DataView, offset: number): TrackedCall['phase'] {
  return phaseOf(view.getUint8(offset + OFFSET.phase))
}

export type TrackedCalls = ReturnType<typeof trackedCalls>

/** How many calls a block holds. There may be thousands of targets with few calls, which should need little memory. */
const BLOCK = 64

/**
 * The tracked calls of a target, by id. Changed in place. Keeps calls as records in blocks of memory. As objects, a million
 * calls would take three times as much memory, and slow down every garbage collection.
 */
export function trackedCalls() {
  const { slots, ids, slotFor, release } = slotsById()
  const sessions = sessionsBySlot()
  const blocks: DataView[] = []
  const blockOf = (slot: number) => (blocks[Math.floor(slot / BLOCK)] ??= newBlock())
  const offsetOf = (slot: number) => (slot % BLOCK) * RECORD_BYTES
  const read = (slot: number, id: string) => readCall(blockOf(slot), offsetOf(slot), id, sessions.get(slot))

  /** The calls of a session. */
  function ofSession(session: string): TrackedCall[] {
    const slot = slots.get(session)
    const plain = slot !== undefined && sessions.get(slot) === undefined ? [read(slot, ids[slot]!)] : []
    const others = sessions.slotsOf(session)
    return others === undefined ? plain : [...plain, ...Array.from(others, (one) => read(one, ids[one]!))]
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
      sessions.set(slot, call.session)
    },
    delete: (id: string) => {
      const slot = slots.get(id)
      if (slot !== undefined) sessions.set(slot, undefined)
      return release(id)
    },
    ofSession,
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

/** A slot for each id. */
function slotsById() {
  const slots = new Map<string, number>()
  /** The id in each slot, so that all copies of a call share one string. */
  const ids: (string | undefined)[] = []
  const free: number[] = []
  return {
    slots,
    ids,
    /** The slot of a call, or a new slot. */
    slotFor: (id: string): number => {
      let slot = slots.get(id)
      if (slot === undefined) {
        slot = free.pop() ?? ids.length
        slots.set(id, slot)
        ids[slot] = id
      }
      return slot
    },
    /** Returns whether there was such a call. */
    release: (id: string): boolean => {
      const slot = slots.get(id)
      if (slot === undefined) return false
      ids[slot] = undefined
      free.push(slot)
      return slots.delete(id)
    },
  }
}

/** The sessions that are not the id of their call. */
function sessionsBySlot() {
  const sessions = new Map<number, string>()
  const slots = new Map<string, Set<number>>()
  return {
    get: (slot: number) => sessions.get(slot),
    slotsOf: (session: string): Iterable<number> | undefined => slots.get(session),
    set: (slot: number, session: string | undefined): void => {
      const before = sessions.get(slot)
      if (before === session) return
      const others = before === undefined ? undefined : slots.get(before)
      others?.delete(slot)
      if (others?.size === 0) slots.delete(before!)
      sessions.delete(slot)
      if (session === undefined) return
      sessions.set(slot, session)
      slots.set(session, (slots.get(session) ?? new Set()).add(slot))
    },
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
