import { systemClock } from '../clock/clock.ts'
import { isSelected, type CallFilter } from './call-filter.ts'
import { listCalls, type PagePosition } from './list-calls.ts'
import type { LedgerState } from '../ledger/state.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { RowReader } from '../store/sql.ts'
import type { Store } from '../store/store.ts'

export type PageCall = { target: string; call: TrackedCall }

/** A selection of calls, and where it begins. */
export type CallSelection = {
  /** When they finished (UNIX seconds), newest first; undefined selects calls in progress, oldest first. */
  finished: { since: number; until: number } | undefined
  /** Whether the calls in progress come before these. */
  isEvery?: boolean
  /** Whether these times are of when they began. */
  isByBegin?: boolean | undefined
  filter: CallFilter
  /** Of calls in progress those that began before (UNIX seconds). */
  beganBefore?: number
  from: Position
}

/** After so many calls in progress, or after a place in the history; empty at the beginning. */
export type Position = {
  offset?: number
  after?: PagePosition
  /** What the first page took `since` and `until` for (UNIX seconds). */
  finished?: { since: number; until: number | null }
}

/** Some calls of a selection, and where those after its page begin; undefined after the last page. */
export type ListedPart = { calls: PageCall[]; next: Position | undefined }

/** Calls in progress of other daemons' targets are only in the store. */
export type CallsSource = {
  targets: {
    all: () => readonly string[]
    own: () => readonly { name: string; ledger: Pick<LedgerState, 'open'> }[]
    others: () => readonly { name: string }[]
  }
  store: Pick<Store, 'openCalls'> & RowReader
}

/** How many calls are read at a time: fewer take longer each, and more live so long that V8 frees them late. */
const CALLS_PER_READ = 2500
/** How long the history is searched for one page or one part (seconds), if few calls match. */
export const SEARCH_SECONDS = 2

/**
 * Lists at most `max` calls of a selection, in parts. An empty part shows that the history is still being searched.
 *
 * @param searchSeconds after this long no further part of the history is searched; only for a reader that continues at `next`
 */
export async function* pagesOf(
  calls: CallSelection,
  max: number,
  from: CallsSource,
  searchSeconds = Infinity,
): AsyncGenerator<ListedPart, void> {
  const { offset = 0, after } = calls.from
  const isHistory = calls.finished !== undefined
  let left = max
  if (!isHistory || (calls.isEvery === true && after === undefined))
    for await (const part of inProgress(calls, max, from)) {
      left -= part.calls.length
      yield isHistory ? { ...part, next: part.next ?? { offset: offset + max - left } } : part
    }
  if (isHistory && left > 0) yield* finished(calls, left, from, searchSeconds)
}

async function* inProgress(
  { filter, beganBefore = Infinity, from }: CallSelection,
  max: number,
  source: CallsSource,
): AsyncGenerator<ListedPart> {
  const { offset = 0 } = from
  const found = (await callsInProgress(filter, source)).filter(({ call }) => beganAt(call) < beganBefore)
  const end = Math.min(found.length, offset + max)
  const next = end < found.length ? { offset: end } : undefined
  for (let i = offset; i === offset || i < end; i += CALLS_PER_READ)
    yield { calls: found.slice(i, Math.min(end, i + CALLS_PER_READ)), next }
}

async function* finished(
  { filter, finished: times, isByBegin = false, from }: CallSelection,
  max: number,
  { store }: CallsSource,
  searchSeconds: number,
): AsyncGenerator<ListedPart> {
  const { since, until } = times!
  // A call finishes at or after its beginning, however long it lasts.
  const wanted = isByBegin ? { since, until: Infinity, began: { since, until } } : { since, until }
  const begun = systemClock.monotonic()
  const spent = () => systemClock.monotonic() - begun
  let { after } = from
  for (let left = max; left > 0;) {
    const options = {
      limit: Math.min(left, CALLS_PER_READ),
      after,
      searchSeconds: Math.min(SEARCH_SECONDS, searchSeconds - spent()),
    }
    const page = await listCalls(store, { ...filter, ...wanted }, options)
    after = page.next
    left -= page.calls.length
    yield {
      calls: page.calls,
      next: after && { after, finished: { since, until: until === Infinity ? null : until } },
    }
    if (after === undefined || spent() > searchSeconds) return
  }
}

/** By their beginning, the oldest first. All daemons use the same order. Otherwise pages of different daemons would repeat and miss calls. */
async function callsInProgress(filter: CallFilter, { targets, store }: CallsSource): Promise<PageCall[]> {
  const isWanted = (name: string) => filter.targets?.includes(name) !== false
  const own = new Map(targets.own().map(({ name, ledger }) => [name, ledger.open]))
  const others = targets.others().flatMap(({ name }) => (isWanted(name) ? [name] : []))
  const elsewhere = Map.groupBy(others.length === 0 ? [] : await store.openCalls(others), ({ target }) => target)
  return targets
    .all()
    .filter(isWanted)
    .flatMap((target) => {
      const calls = own.get(target)?.values().toArray() ?? (elsewhere.get(target) ?? []).map(({ call }) => call)
      return calls.filter((call) => isSelected(filter, { ...call, target })).map((call) => ({ target, call }))
    })
    .toSorted((a, b) => beganAt(a.call) - beganAt(b.call) || (isBefore(a, b) ? -1 : 1))
}

const isBefore = (a: PageCall, b: PageCall) => (a.target === b.target ? a.call.id < b.call.id : a.target < b.target)
