import type { Call } from './call.ts'
import { entriesOf, listingOf, type Entry, type Listing } from './listing.ts'

/** Nothing lags by more seconds. */
const MAX_LAG = 3600
/** Multiples of it are spread evenly over 0 to 1, whatever their number (Weyl 1916). */
const GOLDEN_RATIO = 0.618033988749895

type Filter = (call: Call, value: string) => boolean

/** List Calls' filters. Whether the times mean equal or not-before is not published: here they mean not-before. */
const filters: Record<string, Filter> = {
  type: (call, value) => call.type === value,
  mode: (call, value) => call.mode === value,
  status: (call, value) => call.status === value,
  receiverType: (call, value) => call.receiverType === value,
  startedAt: (call, value) => call.startedAt !== undefined && call.startedAt >= Number(value),
  endedAt: (call, value) => call.endedAt !== undefined && call.endedAt >= Number(value),
  hasRecording: (call, value) => call.hasRecording === ['true', '1'].includes(value),
  participantsCount: (call, value) => call.totalParticipants === Number(value),
  uid: (call, value) => takesPart(call, value),
}

/** The calls that pass every filter of the query; parameters that are no filter are ignored. */
export function filtered(listing: Listing, query: URLSearchParams): Listing {
  const asked = [...query].flatMap(([name, value]) => {
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined
    return filter ? [(call: Call) => filter(call, value)] : []
  })
  if (asked.length === 0) return listing
  return listingOf(entriesOf(listing).filter(({ call }) => asked.every((passes) => passes(call))))
}

/** The calls of one user. */
export function callsOfUser(listing: Listing, uid: string): Listing {
  return listingOf(entriesOf(listing).filter(({ call }) => takesPart(call, uid)))
}

/** True for the caller, the receiver and everyone who is listed in the call. */
export function takesPart(call: Call, uid: string): boolean {
  return call.initiator === uid || call.receiver === uid || call.participants.some((entry) => entry.uid === uid)
}

/** The same share of the calls at every request, spread over the whole list. */
export function indexedOf(listing: Listing, share: number): Listing {
  return listingOf(entriesOf(listing).filter(({ row }) => (row * GOLDEN_RATIO) % 1 < share))
}

/** The list as it was at a moment, no longer ago than pages may lag; without calls that have left it since. */
export function listingBefore(listing: Listing, ms: number): Listing {
  return listingOf(entriesOf(listing).flatMap((entry) => entryBefore(entry, ms) ?? []))
}

/** The call as it was at a moment; undefined where it was not there yet. */
export function entryBefore(entry: Entry, ms: number): Entry | undefined {
  if (entry.sinceMs > ms) return undefined
  const then = entry.past?.find(({ untilMs }) => untilMs > ms)
  if (!then) return entry
  const { text: _text, ...rest } = entry
  return { ...rest, call: then.call }
}

/** Keeps what a call was until now, for answers that lag. */
export function keepPast(entry: Entry, nowMs: number): void {
  const past = (entry.past ?? []).filter(({ untilMs }) => untilMs > nowMs - MAX_LAG * 1000)
  entry.past = [...past, { untilMs: nowMs, call: entry.call }]
}
