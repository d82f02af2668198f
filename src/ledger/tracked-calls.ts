import { phaseOf } from './call-codes.ts'
import { CALL_COLUMNS, CALL_FIELDS, callOfNumbers, orUndefined, type CallColumn } from './call-fields.ts'
import { type EvictionTimes, type TrackedCall, evictAfter } from './tracked-call.ts'
import { ownTime } from './call.ts'
import {
  addCall,
  candidates,
  removeCall,
  withTimes,
  type Access,
  type Keys,
  type SessionCalls,
} from './session-calls.ts'

/*
 * A call without its id, as bytes in memory: its fields in the order of CALL_FIELDS. An object would take three times as much
 * memory.
 *
 * Numbers are 64-bit floats, because times may have fractions; NaN means unknown. Codes have one byte, the marks and small numbers two,
 * where UNKNOWN means unknown. Everything is little-endian.
 */
const UNKNOWN = 0xffff
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
    else if (bytes === 2) view.setUint16(offset + at, Number.isNaN(number) ? UNKNOWN : number, true)
    else view.setUint8(offset + at, number)
  }
}

/** The numbers of the call that is being read. */
const numbers = new Float64Array(CALL_COLUMNS.length)

/** Reads a call's record at an offset. */
export function readCall(view: DataView, offset: number, id: string, session?: string): TrackedCall {
  for (const { at, bytes, place } of LAYOUT) {
    if (bytes === 8) numbers[place] = view.getFloat64(offset + at, true)
    else if (bytes === 1) numbers[place] = view.getUint8(offset + at)
    else {
      const number = view.getUint16(offset + at, true)
      numbers[place] = number === UNKNOWN ? NaN : number
    }
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
  const blocks: DataView[] = []
  const blockOf = (slot: number) => (blocks[Math.floor(slot / BLOCK)] ??= newBlock())
  const offsetOf = (slot: number) => (slot % BLOCK) * RECORD_BYTES
  const access = accessTo((slot) => [blockOf(slot), offsetOf(slot)])
  const sessions = sessionsBySlot(slots, ids, access)
  const readSlot = (slot: number) => readCall(blockOf(slot), offsetOf(slot), ids[slot]!, sessions.get(slot))

  function* values(): Generator<TrackedCall> {
    for (const [slot, id] of ids.entries()) if (id !== undefined) yield readSlot(slot)
  }

  return {
    get size(): number {
      return slots.size
    },
    has: (id: string) => slots.has(id),
    /** Returns a new object each time. */
    get: (id: string) => {
      const slot = slots.get(id)
      return slot === undefined ? undefined : readSlot(slot)
    },
    phase: (id: string) => {
      const slot = slots.get(id)
      return slot === undefined ? undefined : readPhase(blockOf(slot), offsetOf(slot))
    },
    set: (call: TrackedCall) => {
      if (slots.has(call.id)) sessions.remove(slots.get(call.id)!)
      const slot = slotFor(call.id)
      writeCall(blockOf(slot), offsetOf(slot), call)
      sessions.add(slot, call.session)
    },
    delete: (id: string) => {
      const slot = slots.get(id)
      if (slot !== undefined) sessions.remove(slot)
      return release(id)
    },
    /** The calls of a session. */
    ofSession: (session: string) => Array.from(sessions.slotsOf(session, ({ all }) => all), readSlot), // oxfmt-ignore
    /** Those that rows of the session may be. All calls of a session with few. */
    candidates: (session: string, rows: readonly Keys[]) =>
      Array.from(sessions.slotsOf(session, (calls) => candidates(calls, rows, access)), readSlot), // oxfmt-ignore
    /** Those that may be equal to a row of the session. */
    withTimes: (session: string, row: Keys) =>
      Array.from(sessions.slotsOf(session, (calls) => withTimes(calls, row, access)), readSlot), // oxfmt-ignore
    values,
    /** The newest and the oldest wanted calls by their own times (UNIX seconds), at most `count` of each. */
    outermost: (count: number, isWanted: (id: string, time: number) => boolean) => {
      const outermost = outermostSlots(count)
      for (const [slot, id] of ids.entries()) {
        const time = id === undefined ? undefined : ownTime(readEvictionTimes(blockOf(slot), offsetOf(slot)))
        if (id !== undefined && time !== undefined && isWanted(id, time)) outermost.add(slot, time)
      }
      return outermost.slots().map(readSlot)
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

/** The slots of each session. */
function sessionsBySlot(
  slots: ReadonlyMap<string, number>,
  ids: readonly (string | undefined)[],
  access: Access<number>,
) {
  /** The session of each slot whose session is not the id of its call, and the slots of such sessions. */
  const sessions = new Map<number, string>()
  const ofSessions = new Map<string, SessionCalls<number>>()

  /** The slots of a session that has a call with another id. Begins with the call whose id is that of the session. */
  function begin(session: string): SessionCalls<number> {
    const calls: SessionCalls<number> = { all: [] }
    ofSessions.set(session, calls)
    const plain = slots.get(session)
    if (plain !== undefined && !sessions.has(plain)) addCall(calls, plain, access)
    return calls
  }

  return {
    get: (slot: number) => sessions.get(slot),
    /** The slots of a session, as `chosen` chooses them if it has several calls. */
    slotsOf: (session: string, chosen: (calls: SessionCalls<number>) => Iterable<number>): Iterable<number> => {
      const several = ofSessions.get(session)
      if (several !== undefined) return chosen(several)
      const slot = slots.get(session)
      return slot === undefined || sessions.has(slot) ? [] : [slot]
    },
    add: (slot: number, session: string | undefined): void => {
      if (session !== undefined) sessions.set(slot, session)
      const own = session ?? ids[slot]!
      const calls = ofSessions.get(own) ?? (session === undefined ? undefined : begin(own))
      if (calls !== undefined) addCall(calls, slot, access)
    },
    /** Call it before the record of the call changes. */
    remove: (slot: number): void => {
      const own = sessions.get(slot) ?? ids[slot]!
      const calls = ofSessions.get(own)
      sessions.delete(slot)
      if (calls === undefined) return
      removeCall(calls, slot, access)
      // What is left may be the call whose id is that of the session.
      if (calls.all.every((each) => !sessions.has(each))) ofSessions.delete(own)
    },
  }
}

/** How the calls of a session are found in their records. */
function accessTo(recordOf: (slot: number) => [DataView, number]): Access<number> {
  return {
    keysOf: (slot) => {
      const [view, offset] = recordOf(slot)
      const number = (at: number) => view.getFloat64(offset + at, true)
      return {
        initiatedAt: number(OFFSET.initiated),
        startedAt: number(OFFSET.started),
        endedAt: number(OFFSET.ended),
        mid: number(OFFSET.mid),
      }
    },
    isOpen: (slot) => {
      const phase = readPhase(...recordOf(slot))
      return phase === 'open' || phase === 'lost'
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
