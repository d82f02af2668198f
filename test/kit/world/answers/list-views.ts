import type { Call } from '../../../../src/simulator/calls/call.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'
import { besideOf, type WorldState } from '../state.ts'

/** Nothing lags by more seconds. */
const MAX_LAG = 3600
/** Multiples of it are spread evenly over 0 to 1, whatever their number (Weyl 1916). */
const GOLDEN_RATIO = 0.618033988749895

type Filter = (call: Call, value: string) => boolean

/** List Calls' filters besides those by user and group. Whether the times mean equal or not-before is not published: here they mean not-before. */
const filters: Record<string, Filter> = {
  type: (call, value) => call.type === value,
  mode: (call, value) => call.mode === value,
  status: (call, value) => call.status === value,
  receiverType: (call, value) => call.receiverType === value,
  startedAt: (call, value) => call.startedAt !== undefined && call.startedAt >= Number(value),
  endedAt: (call, value) => call.endedAt !== undefined && call.endedAt >= Number(value),
  hasRecording: (call, value) => call.hasRecording === ['true', '1'].includes(value),
  participantsCount: (call, value) => call.totalParticipants === Number(value),
}

/** The calls that pass every filter of the query; parameters that are no filter are ignored. */
export function filtered(listing: Entry[], query: URLSearchParams): Entry[] {
  const asked = [...query].flatMap(([name, value]) => {
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined
    return filter ? [(call: Call) => filter(call, value)] : []
  })
  return asked.length === 0 ? listing : listing.filter(({ call }) => asked.every((passes) => passes(call)))
}

/** The same share of the calls at every request, spread over the whole list. */
export function indexedOf(state: WorldState, listing: Entry[], share: number): Entry[] {
  return listing.filter((entry) => (besideOf(state, entry).row * GOLDEN_RATIO) % 1 < share)
}

/** The call as it was at a moment, no longer ago than pages may lag; undefined where it was not there yet. */
export function entryBefore(state: WorldState, entry: Entry, ms: number): Entry | undefined {
  const beside = besideOf(state, entry)
  const { replaces } = beside.life
  if (beside.sinceMs > ms) return replaces && entryBefore(state, replaces, ms)
  const then = beside.past?.find(({ untilMs }) => untilMs > ms)
  if (!then) return entry
  const { text: _text, ...rest } = entry
  const before = { ...rest, call: then.call }
  state.beside.set(before, beside)
  return before
}

/** Keeps what a call was until now, for answers that lag. */
export function keepPast(state: WorldState, entry: Entry, nowMs: number): void {
  const beside = besideOf(state, entry)
  const past = (beside.past ?? []).filter(({ untilMs }) => untilMs > nowMs - MAX_LAG * 1000)
  beside.past = [...past, { untilMs: nowMs, call: entry.call }]
}
