import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { CallStatus } from '../ledger/call.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { HistoryPosition, Store } from '../store/store.ts'
import type { WatchedTarget } from './views.ts'

export type ListedCall = { target: string; call: TrackedCall }

/** Which calls are asked for, and from where on. */
export type CallsWanted = {
  /** Calls that finished since (UNIX seconds), newest first; those in progress without it. */
  since: number | undefined
  target: string | undefined
  status: CallStatus | undefined
  from: Position
}

/** Where a page begins: after so many calls in progress, or after a call of the history. */
export type Position = { offset: number } | { after: HistoryPosition | undefined }

/** So many calls are read and shown in one turn of the event loop. */
const CALLS_A_TURN = 500

/** The calls, a slice at a time; between two of them the event loop does other things. */
export async function* slicesOf(
  wanted: CallsWanted,
  most: number,
  from: { targets: readonly WatchedTarget[]; store: Pick<Store, 'finishedCalls'> },
): AsyncGenerator<ListedCall[], undefined> {
  const { since, target, status } = wanted
  if (since === undefined) {
    const offset = 'offset' in wanted.from ? wanted.from.offset : 0
    const found = inProgress(from.targets)
      .filter((one) => isWanted(target, one.target) && isWanted(status, one.call.status))
      .drop(offset)
      .take(most)
    let slice: ListedCall[] = []
    for (const one of found) {
      slice.push(one)
      if (slice.length < CALLS_A_TURN) continue
      yield slice
      slice = []
      await setImmediate()
    }
    yield slice
    return undefined
  }
  let after = 'after' in wanted.from ? wanted.from.after : undefined
  for (let left = most; left > 0;) {
    const limit = Math.min(left, CALLS_A_TURN)
    const slice = await from.store.finishedCalls({ since, limit, target, status, after })
    yield slice
    if (slice.length < limit) return undefined
    after = positionOf(slice.at(-1)!)
    left -= limit
    await setImmediate()
  }
  return undefined
}

function* inProgress(targets: readonly WatchedTarget[]): Generator<ListedCall, undefined> {
  for (const { target, ledger } of targets) for (const call of ledger.open.values()) yield { target, call }
}

function isWanted(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value
}

/** Of a call of the history. */
export function positionOf({ target, call }: ListedCall): HistoryPosition {
  return { at: call.finish!.at, target, id: call.id }
}

const offset = z.strictObject({ offset: z.int().nonnegative() })
const after = z.strictObject({ after: z.strictObject({ at: z.number(), target: z.string(), id: z.string() }) })

/** A position as the API shows it: nothing that a client should take apart. */
export function cursorOf(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** The position of a cursor; undefined where it is none of that kind. */
export function readCursor(cursor: string, isHistory: boolean): Position | undefined {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return (isHistory ? after : offset).safeParse(position).data
  } catch {
    return undefined
  }
}
