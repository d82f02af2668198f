import type { Clock } from '../clock/clock.ts'
import { finalStatus, ownTime, type SeenCall } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { GoodLook, ListedCall } from '../ledger/step.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { ServiceError } from '../service/service-error.ts'
import type { ListMemory } from './list-memory.ts'
import { learnOrder } from './list-order.ts'

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
  /** Open calls that are to be asked for one by one unless the list shows them; none where that is not wanted. */
  wanted: () => readonly TrackedCall[]
  /** Rejects with a {@link ServiceError}. */
  fetchPage: (page: number) => Promise<CallPage>
}

/** What the parts of a look share. */
export type PageReader = LookOptions & {
  readonly look: Look
  /** When the look began (monotonic seconds). */
  readonly begun: number
  /** Takes down what a page showed, whatever it was read for. */
  note: (page: CallPage) => void
  /** Reads a page, and yields it on. */
  read: (number: number) => AsyncGenerator<CallPage, CallPage>
}

export function pageReader(look: Look, options: LookOptions): PageReader {
  const { memory, state, clock, horizon, fetchPage } = options
  const { list } = state.facts
  /** New calls that this look has met. Its increment clears `fresh`, and its sweep may see them again before they are counted. */
  const met = new Set<string>()

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
      if (state.calls.has(call.id) || met.has(call.id) || isIgnored(call, horizon)) continue
      met.add(call.id)
      memory.fresh.add(call.id)
    }
    memory.order = learnOrder(memory.order, page.calls)
  }

  async function* read(number: number): AsyncGenerator<CallPage, CallPage> {
    const page = await fetchPage(number)
    note(page)
    yield page
    return page
  }

  return { ...options, look, begun: clock.monotonic(), note, read }
}

function isOpen({ status, endedAt }: ListedCall): boolean {
  return finalStatus({ status, endedAt }) === undefined
}

/** A call that each look ignores anew, and that is no news therefore. */
function isIgnored(call: SeenCall, horizon: number): boolean {
  return finalStatus(call) !== undefined && (ownTime(call) ?? Infinity) < horizon
}
