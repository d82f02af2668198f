import { deserialize, serialize } from 'node:v8'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { RECORD_BYTES, readCall, writeCall } from '../../ledger/call-record.ts'
import { labelCode, labelsOfCode } from '../../ledger/call-codes.ts'
import type { Delta, Transition } from '../../ledger/state.ts'
import type { Finish, TrackedCall } from '../../ledger/tracked-call.ts'
import type { Commit } from '../store.ts'

type Logged = Pick<Commit, 'ledger' | 'alerts'>

/** Of a call, its place among the records. */
type Place = number
type Packed = {
  version: 1
  ids: string[]
  records: Uint8Array
  calls: Place[]
  evicted: Place[]
  transitions: (Omit<Transition, 'call'> & { call: Place })[]
  finishes: (Omit<Finish, 'labels'> & { labels: number })[]
  rest: Omit<Delta, 'calls' | 'evicted' | 'transitions' | 'finishes'>
  alerts: Commit['alerts']
}

/** A commit for the event feeds of other daemons: the very same numbers, in Node's own serialization, deflated. */
export function packCommit({ ledger, alerts }: Logged): Uint8Array {
  const { calls, evicted, transitions, finishes, ...rest } = ledger
  const places = new Map<TrackedCall, Place>()
  const placeOf = (call: TrackedCall): Place => {
    const known = places.get(call)
    if (known !== undefined) return known
    places.set(call, places.size)
    return places.size - 1
  }
  const placed = {
    calls: [...calls.values()].map(placeOf),
    evicted: evicted.map(placeOf),
    transitions: transitions.map((transition) => ({ ...transition, call: placeOf(transition.call) })),
  }
  const records = new Uint8Array(places.size * RECORD_BYTES)
  const view = new DataView(records.buffer)
  for (const [call, place] of places) writeCall(view, place * RECORD_BYTES, call)
  const packed: Packed = {
    version: 1,
    ids: Array.from(places.keys(), ({ id }) => id),
    records,
    ...placed,
    finishes: finishes.map((finish) => ({ ...finish, labels: labelCode(finish.labels) })),
    rest,
    alerts,
  }
  // At most a fifth of the bytes, for a millisecond a thousand calls.
  return deflateRawSync(serialize(packed), { level: 1 })
}

/** What {@link packCommit} packed; undefined where another version of callwatch, or of Node, packed it in another way. */
export function unpackCommit(data: Uint8Array): Logged | undefined {
  let packed: Packed
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by packCommit only
    packed = deserialize(inflateRawSync(data)) as Packed
  } catch {
    return undefined
  }
  if (packed.version !== 1) return undefined
  const { ids, records, calls, evicted, transitions, finishes, rest, alerts } = packed
  const view = new DataView(records.buffer, records.byteOffset)
  const all = ids.map((id, place) => readCall(view, place * RECORD_BYTES, id))
  return {
    ledger: {
      ...rest,
      calls: new Map(calls.map((place) => [ids[place]!, all[place]!])),
      evicted: evicted.map((place) => all[place]!),
      transitions: transitions.map((transition) => ({ ...transition, call: all[transition.call]! })),
      finishes: finishes.map((finish) => ({ ...finish, labels: labelsOfCode(finish.labels) })),
    },
    alerts,
  }
}
