import type { Clock } from '../clock/clock.ts'
import { finalStatus, ownTime, type SeenCall } from '../ledger/call.ts'
import type { LedgerState, ListKnowledge } from '../ledger/state.ts'
import type { GoodLook, ListedCall } from '../ledger/step.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { advanceIncrement, endOf, newIncrement, otherEnd, takeOtherEnd, type Increment } from './increment.ts'
import { evidenceOf, learnOrder, NO_EVIDENCE, provenOrder, type OrderEvidence } from './list-order.ts'
import { addToSweep, advanceSweep, listedIn, newSweep, resumeSweep, type Sweep } from './sweep.ts'

/** What the looks at a target remember from one to the next, beside what is committed. Changed in place. */
export type ListMemory = {
  order: OrderEvidence
  /** Calls that came to be known since the last good look. */
  readonly fresh: Set<string>
  /** The sweep that is under way. */
  sweep: Sweep | undefined
  /** When the last whole look began (monotonic seconds), and how long it took. */
  sweptAt: number | undefined
  sweepSeconds: number
  sweepBegan: number
  /** How many pages the last whole look read. */
  sweepPages: number
  /** The first page that the service refuses to show, where it does. */
  refusedFrom: number | undefined
}

/** What one look has come to. Changed in place while its pages come in. */
export type Look = {
  /** The service's clock and the host's at the latest answer (UNIX seconds). */
  now: number
  host: number
  /** Pages that were read. */
  pages: number
  /** Ids of open calls that were listed; where there is none, of any call. */
  readonly listed: Set<string>
  /** How it ended; undefined for one that is not good. */
  end: GoodLook | undefined
  /** What was seen is all that the service shows, though not all there is. */
  limited: boolean
  /** Why it is not good. */
  problem: ServiceError | undefined
}

export type LookOptions = {
  memory: ListMemory
  state: LedgerState
  clock: Clock
  /** How far back the list is to be read (UNIX seconds). */
  horizon: number
  /** Seconds; a whole look is due as often as that. */
  sweepInterval: number
  /** The most pages that a sweep may read beside an increment, and for how long a look may read on (seconds). */
  slice: number
  interval: number
  /** Rejects with a {@link ServiceError}. */
  fetchPage: (page: number) => Promise<CallPage>
}

export function newListMemory(list: ListKnowledge | undefined, sweptAt: number | undefined): ListMemory {
  const order = list === undefined ? NO_EVIDENCE : evidenceOf(list.order)
  return {
    order,
    fresh: new Set(),
    sweep: undefined,
    sweptAt,
    sweepSeconds: 0,
    sweepBegan: 0,
    sweepPages: 0,
    refusedFrom: undefined,
  }
}

/** Gives up what was read of the list so far: the next look reads it as a whole. */
export function forgetProgress(memory: ListMemory): void {
  memory.sweep = undefined
  memory.sweptAt = undefined
}

export function newLook(): Look {
  return { now: 0, host: 0, pages: 0, listed: new Set(), end: undefined, limited: false, problem: undefined }
}

/**
 * Reads as much of the list as this look needs, page by page: first the newest calls, where an earlier look knows what
 * to expect; then, where a whole look is due or nothing else proves anything, a slice of a sweep.
 *
 * @throws {ServiceError} when a page cannot be read
 */
export async function* readList(look: Look, options: LookOptions): AsyncGenerator<CallPage, void> {
  const { memory, state, clock, horizon, fetchPage } = options
  const begun = clock.monotonic()

  const { list } = state.facts
  let proven: Increment | undefined
  let earliest: number | undefined
  if (list !== undefined && provenOrder(memory.order) === list.order) proven = yield* readIncrement(list)
  const isDue = clock.monotonic() - (memory.sweptAt ?? -Infinity) >= options.sweepInterval - memory.sweepSeconds
  if (look.end?.whole) return
  if (proven === undefined || memory.sweep !== undefined || isDue) yield* readSlice(proven)

  async function* read(number: number): AsyncGenerator<CallPage, CallPage> {
    const page = await fetchPage(number)
    note(page)
    yield page
    return page
  }

  function note(page: CallPage): void {
    const { page: number } = page
    if (number >= (memory.refusedFrom ?? Infinity)) memory.refusedFrom = undefined
    look.now = page.now
    look.host = page.host
    look.pages += 1
    for (const call of page.calls) {
      if (look.listed.size === 0 || isOpen(call)) look.listed.add(call.id)
      // Without a list that was known to its end there is nothing that new calls would have to explain.
      if (list === undefined || 'phase' in call) continue
      if (!state.calls.has(call.id) && !isIgnored(call, horizon)) memory.fresh.add(call.id)
    }
    memory.order = learnOrder(memory.order, page.calls)
  }

  /**
   * Whether a page lies wholly before the horizon, and before the earliest call that is remembered: a long call stands
   * where it began, though its end is recent. Open ones are asked for one by one.
   */
  function isPast({ calls }: CallPage): boolean {
    if (calls.length === 0 || !calls.every((call) => (ownTime(call) ?? Infinity) < horizon)) return false
    earliest ??= earliestRemembered(state)
    const limit = earliest
    return calls.every(({ initiatedAt, startedAt, endedAt }) => (initiatedAt ?? startedAt ?? endedAt ?? 0) < limit)
  }

  /** The newest calls; what was read if that proves that nothing else is new. */
  async function* readIncrement(known: ListKnowledge): AsyncGenerator<CallPage, Increment | undefined> {
    const increment = newIncrement(known)
    let first: CallPage | undefined
    for (;;) {
      const page = yield* read(increment.page)
      first ??= page
      if (memory.sweep) addToSweep(memory.sweep, page)
      if (provenOrder(memory.order) !== known.order) return undefined
      let progress = advanceIncrement(increment, page, memory.fresh)
      if (progress === 'other end') {
        progress = takeOtherEnd(increment, yield* read(otherEnd(increment)), memory.fresh)
      }
      if (progress === 'unexplained') return undefined
      if (progress === 'on') continue
      memory.fresh.clear()
      const whole = increment.seen.size + increment.unusable >= increment.total
      if (whole) concludeSweep(clock.monotonic() - begun)
      const { total, end } = increment
      const newList = { order: known.order, total, end, pageSize: known.pageSize }
      look.end = {
        whole,
        began: first.now,
        hostBegan: first.host,
        now: look.now,
        host: look.host,
        listed: whole ? increment.seen : new Set(),
        list: newList,
      }
      return increment
    }
  }

  /** A slice of the sweep that is under way, or of a new one. */
  async function* readSlice(proven: Increment | undefined): AsyncGenerator<CallPage, void> {
    const sweep = memory.sweep ?? newSweep(provenOrder(memory.order), proven?.lastPage)
    if (memory.sweep === undefined) memory.sweepBegan = begun
    else resumeSweep(sweep)
    memory.sweep = sweep
    const most = proven === undefined ? Infinity : options.slice
    // Less than an interval: a cycle that misses the next tick waits for the one after it.
    const longest = options.interval * (proven === undefined ? 0.9 : 0.5)
    // A sweep that goes on begins with a page that it has read: with less than one more it would never move.
    const least = sweep.began === undefined ? 1 : 2
    const goesOn = (pages: number) => pages < least || (pages < most && clock.monotonic() - begun < longest)
    let coming = fetchPage(sweep.page)
    for (let pages = 1; ; pages++) {
      let page: CallPage
      try {
        page = await coming
      } catch (error) {
        if (!isRefusal(error, sweep)) throw error
        // Once may be a passing trouble; a limit refuses the same page in the next cycle as well.
        const isLimit = memory.refusedFrom !== undefined && sweep.page >= memory.refusedFrom
        memory.refusedFrom = Math.min(memory.refusedFrom ?? Infinity, sweep.page)
        if (!isLimit) throw error
        yield* endLimited(sweep, proven, error)
        return
      }
      note(page)
      const progress = advanceSweep(sweep, page, provenOrder(memory.order), isPast)
      const isCut = progress === 'on' && !goesOn(pages)
      if (progress === 'on' && !isCut) {
        // While this page is counted the next one is on its way.
        coming = fetchPage(sweep.page)
        coming.catch(() => undefined)
      }
      yield page
      if (isCut) return
      if (progress === 'on') continue
      if (progress === 'stuck') {
        memory.sweep = undefined
        look.problem = new ServiceError('invalid', stuckBecause(sweep))
      } else {
        yield* endWhole(sweep, proven, page)
      }
      return
    }
  }

  /** The service does not show more. Newest first, that is all that a look can see; otherwise new calls stay unseen. */
  async function* endLimited(
    sweep: Sweep,
    proven: Increment | undefined,
    error: ServiceError,
  ): AsyncGenerator<CallPage, void> {
    if (provenOrder(memory.order) === 'newest first') {
      look.limited = true
      yield* endWhole(sweep, proven, undefined)
      return
    }
    memory.sweep = undefined
    look.problem = new ServiceError(
      'refused',
      `the service refuses page ${sweep.page} and what follows: ${error.message}`,
      { cause: error },
    )
  }

  async function* endWhole(
    sweep: Sweep,
    proven: Increment | undefined,
    last: CallPage | undefined,
  ): AsyncGenerator<CallPage, void> {
    const list = proven === undefined ? yield* knowledgeAfter(sweep, last) : look.end?.list
    const { began = look } = sweep
    const listed = listedIn(sweep)
    look.end = { whole: true, began: began.now, hostBegan: began.host, now: look.now, host: look.host, listed, list }
    memory.sweepPages = sweep.done
    concludeSweep(clock.monotonic() - memory.sweepBegan)
  }

  /** What the next look can go by, after a sweep that no increment preceded. */
  async function* knowledgeAfter(
    sweep: Sweep,
    last: CallPage | undefined,
  ): AsyncGenerator<CallPage, ListKnowledge | undefined> {
    const order = provenOrder(memory.order)
    if (order === 'unknown' || sweep.total === undefined) return undefined
    const { pageSize } = sweep
    const farEnd = order === 'newest first' ? (sweep.lastPage ?? 1) : 1
    let end: string[] = []
    if (last?.page === farEnd) end = endOf(last, order)
    else if (last !== undefined) end = endOf(yield* read(farEnd), order)
    // Calls that came in since the sweep began are at the newest end; until they are all seen, no total is worth knowing.
    let total = last?.total !== undefined && sweep.seen.size >= last.total ? last.total : undefined
    for (
      let page = order === 'newest first' ? 1 : (sweep.lastPage ?? 1);
      total === undefined && page >= 1;
      page += sweep.direction
    ) {
      const known = sweep.seen.size
      const newest = yield* read(page)
      addToSweep(sweep, newest)
      if (newest.total === undefined || newest.items === 0) return undefined
      if (sweep.seen.size === known) total = newest.total
    }
    memory.fresh.clear()
    return total === undefined ? undefined : { order, total, pageSize, end }
  }

  function concludeSweep(seconds: number): void {
    memory.sweep = undefined
    memory.sweepSeconds = seconds
    memory.sweptAt = clock.monotonic() - seconds
  }
}

function isOpen({ status, endedAt }: ListedCall): boolean {
  return finalStatus({ status, endedAt }) === undefined
}

function earliestRemembered({ calls }: LedgerState): number {
  let earliest = Infinity
  for (const call of calls.values()) if (call.phase !== 'open') earliest = Math.min(earliest, beganAt(call))
  return earliest
}

/** A call that each look ignores anew, and that is no news therefore. */
function isIgnored(call: SeenCall, horizon: number): boolean {
  return finalStatus(call) !== undefined && (ownTime(call) ?? Infinity) < horizon
}

/** Services of this kind refuse pages past some depth; the first page is never too deep. */
function isRefusal(error: unknown, { page, began }: Sweep): error is ServiceError {
  return error instanceof ServiceError && error.kind === 'refused' && page > 1 && began !== undefined
}

function stuckBecause({ total, seen }: Sweep): string {
  return total === undefined
    ? `the list did not end: after ${seen.size} calls its pages only repeated them`
    : `the service says that it lists ${total} calls, but only ${seen.size} were found on its pages`
}
