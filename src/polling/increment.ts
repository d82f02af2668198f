import type { ListKnowledge } from '../ledger/state.ts'
import type { CallPage } from '../service/calls-client.ts'
import { lastPageOf } from './sweep.ts'

/**
 * A look at the newest calls only. What it proves it proves by the service's total: that is what it was at the last good
 * look, plus the calls that are new, less those that left the list at its other end.
 */
export type Increment = {
  /** The list as the last good look left it. */
  readonly known: ListKnowledge
  /** The page to be read next, and the last that was read at the newest end. */
  page: number
  last: CallPage | undefined
  readonly seen: Set<string>
  /** Items that could not be used: any of them may be new. */
  unusable: number
  /** Whether the next page may show more that is new. */
  goesOn: boolean
  /** Calls that have left at the other end; undefined until that was asked. */
  left: number | undefined
  /** Ids at the other end, from the outermost inwards. */
  end: readonly string[]
  total: number
  lastPage: number
}

/** How an increment goes on: with another page from the newest end or one from the other, or it has ended. */
export type IncrementProgress = 'on' | 'other end' | 'proven' | 'unexplained'

/** Ids that are remembered of the other end. */
const END_LENGTH = 100

export function newIncrement(known: ListKnowledge): Increment {
  const lastPage = Math.max(1, Math.ceil(known.total / known.pageSize))
  return {
    known,
    page: known.order === 'newest first' ? 1 : lastPage,
    last: undefined,
    seen: new Set(),
    unusable: 0,
    goesOn: true,
    left: undefined,
    end: known.end,
    total: known.total,
    lastPage,
  }
}

/**
 * Takes a page from the newest end.
 *
 * @param fresh all calls that came to be known since the last good look, those of this page included
 */
export function advanceIncrement(increment: Increment, page: CallPage, fresh: ReadonlySet<string>): IncrementProgress {
  const { known, seen } = increment
  const isFirst = seen.size === 0
  for (const { id } of page.calls) seen.add(id)
  increment.unusable += page.items - page.calls.length
  if (page.total === undefined) return 'unexplained'
  increment.total = page.total
  increment.lastPage = lastPageOf(page, known.pageSize) ?? increment.lastPage

  const backwards = known.order === 'oldest first'
  if (backwards && isFirst && page.page !== increment.lastPage) {
    // The list has grown or shrunk over a page's boundary: its newest calls stand on another page by now.
    increment.page = increment.lastPage
    return 'on'
  }
  const isLast = backwards ? page.page <= 1 : page.page >= increment.lastPage
  increment.last = page
  increment.goesOn = !isLast && page.calls.some(({ id }) => fresh.has(id))
  increment.page = page.page + (backwards ? -1 : 1)
  // All of the page is new: more may be behind it, though as many that left at the other end make the total look right.
  const innermost = backwards ? page.calls[0] : page.calls.at(-1)
  if (increment.goesOn && innermost !== undefined && fresh.has(innermost.id)) return 'on'
  return explain(increment, fresh)
}

/** The number of the page at the other end. */
export function otherEnd({ known, lastPage }: Increment): number {
  return known.order === 'newest first' ? lastPage : 1
}

/** Takes the page at the other end: what left the list there explains a total that is too small. */
export function takeOtherEnd(increment: Increment, page: CallPage, fresh: ReadonlySet<string>): IncrementProgress {
  const ids = endOf(page, increment.known.order)
  const left = increment.known.end.indexOf(ids[0] ?? '')
  if (left === -1 || page.total === undefined) return 'unexplained'
  const kept = increment.known.end.slice(left)
  increment.left = left
  increment.end = ids.length >= kept.length ? ids : kept
  increment.total = page.total
  return explain(increment, fresh)
}

/** The ids at the other end of the list by one page of it, from the outermost inwards. */
export function endOf({ calls }: CallPage, order: ListKnowledge['order']): string[] {
  const ids = calls.map(({ id }) => id)
  return (order === 'newest first' ? ids.toReversed() : ids).slice(0, END_LENGTH)
}

function explain({ total, known, unusable, left, goesOn }: Increment, fresh: ReadonlySet<string>): IncrementProgress {
  const missing = total - known.total - fresh.size + (left ?? 0)
  if (missing >= 0 && missing <= unusable) return 'proven'
  if (missing > 0) return goesOn ? 'on' : 'unexplained'
  return left === undefined ? 'other end' : 'unexplained'
}
