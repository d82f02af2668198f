import type { Call } from './call.ts'
import { listingOf } from './listing.ts'
import type { Listing } from './listing.ts'

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

/** The calls that pass every filter of the query; parameters that are no filter are not looked at. */
export function filtered(listing: Listing, query: URLSearchParams): Listing {
  const asked = [...query].flatMap(([name, value]) => {
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined
    return filter ? [(call: Call) => filter(call, value)] : []
  })
  return asked.length === 0 ? listing : only(listing, (call) => asked.every((passes) => passes(call)))
}

/** The calls that pass, in the same order. */
export function only({ entries, first }: Listing, passes: (call: Call) => boolean): Listing {
  return listingOf(entries.filter(({ call }, index) => index >= first && passes(call)))
}

/** True for the caller, the one who is called and everyone who is listed in the call. */
export function takesPart(call: Call, uid: string): boolean {
  return call.initiator === uid || call.receiver === uid || call.participants.some((entry) => entry.uid === uid)
}
