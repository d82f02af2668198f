import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { CallStatus } from '../ledger/call.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { HistoryPosition, Store } from '../store/store.ts'
import type { ShownTarget } from '../target/target.ts'

export type ListedCall = { target: string; call: TrackedCall }

/** A selection of calls, and the position where it begins. */
export type CallsWanted = {
  /** Calls that finished since then (UNIX seconds), newest first; undefined selects calls in progress. */
  since: number | undefined
  target: string | undefined
  status: CallStatus | undefined
  from: Position
}

/** Where a page begins: after a number of calls in progress, or after a call of the history. */
export type Position = { offset: number } | { after: HistoryPosition | undefined }

/** Calls in progress of other daemons' targets are in the store alone. */
export type CallsSource = {
  targets: {
    all: () => readonly string[]
    own: () => readonly ShownTarget[]
    others: () => readonly { name: string }[]
  }
  store: Pick<Store, 'finishedCalls' | 'openCalls'>
}

/** Calls that are read and formatted in one iteration of the event loop. */
const CALLS_PER_TURN = 500

/** Lists calls in slices, each in its own iteration of the event loop. */
export async function* slicesOf(
  wanted: CallsWanted,
  max: number,
  from: CallsSource,
): AsyncGenerator<ListedCall[], undefined> {
  const { since, target, status } = wanted
  if (since === undefined) {
    const offset = 'offset' in wanted.from ? wanted.from.offset : 0
    const found = (await inProgress(target, from))
      .filter(({ call }) => isWanted(status, call.status))
      .drop(offset)
      .take(max)
    let slice: ListedCall[] = []
    for (const one of found) {
      slice.push(one)
      if (slice.length < CALLS_PER_TURN) continue
      yield slice
      slice = []
      await setImmediate()
    }
    yield slice
    return undefined
  }
  let after = 'after' in wanted.from ? wanted.from.after : undefined
  for (let left = max; left > 0;) {
    const limit = Math.min(left, CALLS_PER_TURN)
    const slice = await from.store.finishedCalls({ since, limit, target, status, after })
    yield slice
    if (slice.length < limit) return undefined
    after = positionOf(slice.at(-1)!)
    left -= limit
    await setImmediate()
  }
  return undefined
}

/** Every daemon has them in the same order, or pages that two daemons serve would repeat and miss calls. */
async function inProgress(
  wanted: string | undefined,
  { targets, store }: CallsSource,
): Promise<IteratorObject<ListedCall, undefined>> {
  const names = targets.all().filter((name) => isWanted(wanted, name))
  const own = new Map(targets.own().map(({ name, ledger }) => [name, ledger.open]))
  const others = targets.others().flatMap(({ name }) => (isWanted(wanted, name) ? [name] : []))
  const elsewhere = Map.groupBy(others.length === 0 ? [] : await store.openCalls(others), ({ target }) => target)
  return names.values().flatMap((target) => {
    const calls = own.get(target)?.values().toArray() ?? (elsewhere.get(target) ?? []).map(({ call }) => call)
    return calls.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((call) => ({ target, call }))
  })
}

function isWanted(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value
}

/** The position of a finished call in the history. */
export function positionOf({ target, call }: ListedCall): HistoryPosition {
  return { at: call.finish!.at, target, id: call.id }
}

const offset = z.strictObject({ offset: z.int().nonnegative() })
const after = z.strictObject({ after: z.strictObject({ at: z.number(), target: z.string(), id: z.string() }) })

/** Encodes a position for the API. Clients must not depend on the content. */
export function cursorOf(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** Decodes a cursor of calls in progress or of the history; undefined for any other text. */
export function readCursor(cursor: string, isHistory: boolean): Position | undefined {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return (isHistory ? after : offset).safeParse(position).data
  } catch {
    return undefined
  }
}
