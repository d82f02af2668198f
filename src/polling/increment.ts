import type { ListKnowledge } from '../ledger/state.ts'
import type { ListPage } from './page-reader.ts'

/**
 * A look at the newest calls only. What it proves it proves by the service's total: that is what it was at the last good
 * look, plus the calls that are new, less those that left the list at its other end.
 */
export type Increment = {
  /** The list as the last successful poll left it. */
  readonly known: ListKnowledge
  /** Growth was not explained by the last poll either: this one asks the far end. */
  readonly asksFarEnd: boolean
  /** The page to be read next, and the last that was read at the newest end. */
  page: number
  last: ListPage | undefined
  readonly seen: Set<string>
  /** When the calls of the oldest page among them began, half of them later (UNIX seconds). */
  oldest: number
  /** Items that could not be used: any of them may be new. */
  unusable: number
  /** Whether the next page may show more that is new. */
  goesOn: boolean
  /** Calls that have left at the far end, negative for rows that came in there; undefined until that was asked. */
  left: number | undefined
  /** Ids at the far end, from the outermost inwards; none where it is not known. */
  end: readonly string[]
  /** Calls count as new that stand at the far end: the list is in another order than was believed. */
  isMisplaced: boolean
  /** How many calls have left was not seen: it was reckoned from the total. */
  isAssumed: boolean
  /** Items that could not be used were taken for what is new by the total: it may have been others as well. */
  isExcused: boolean
  total: number
  lastPage: number
}

/** How an increment goes on: with another page from the newest end or one from the far end, or it has ended. */
export type IncrementProgress = 'on' | 'far end' | 'proven' | 'unexplained'

/** Ids that are remembered of the far end. */
const END_LENGTH = 100
/** Calls that may have left unseen between two polls: so many, and so large a part of the list. */
const MOST_ASSUMED = 10
const SHARE_ASSUMED = 0.1

/** @param asked calls asked for in one page, which may be fewer than when the list was last read */
export function newIncrement(known: ListKnowledge, asked: number, asksFarEnd: boolean): Increment {
  const lastPage = Math.max(1, Math.ceil(known.total / Math.min(known.pageSize, asked)))
  return {
    known,
    asksFarEnd,
    page: known.order === 'newest first' ? 1 : lastPage,
    last: undefined,
    seen: new Set(),
    oldest: Infinity,
    unusable: 0,
    goesOn: true,
    left: undefined,
    end: known.end,
    isMisplaced: false,
    isAssumed: false,
    isExcused: false,
    total: known.total,
    lastPage,
  }
}

/**
 * Takes a page from the newest end.
 *
 * @param fresh all calls that came to be known since the last successful poll, those of this page included
 */
export function advanceIncrement(increment: Increment, page: ListPage, fresh: ReadonlySet<string>): IncrementProgress {
  const { known, seen } = increment
  const isFirst = increment.last === undefined
  for (const { id } of page.calls) seen.add(id)
  increment.oldest = Math.min(increment.oldest, page.middle)
  increment.unusable += page.items - page.calls.length
  if (page.total === undefined) return 'unexplained'
  increment.total = page.total
  increment.lastPage = page.lastPage ?? increment.lastPage

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

/** The number of the page at the far end. */
export function farEnd({ known, lastPage }: Increment): number {
  return known.order === 'newest first' ? lastPage : 1
}

/** Takes the page at the far end: calls that left or came in there explain a total that is too small or too large. */
export function takeFarEnd(increment: Increment, page: ListPage, fresh: ReadonlySet<string>): IncrementProgress {
  const { known } = increment
  const ids = endOf(page, known.order)
  if (page.total === undefined) return 'unexplained'
  if (known.end.length === 0) {
    increment.end = ids
    return assumeLeft(increment, fresh)
  }
  const left = known.end.indexOf(ids[0] ?? '')
  const cameIn = ids.indexOf(known.end[0]!)
  if (left === -1 && cameIn === -1) return 'unexplained'
  const added = ids.slice(0, Math.max(0, cameIn))
  increment.left = left === -1 ? -added.filter((id) => !fresh.has(id)).length : left
  increment.isMisplaced = added.some((id) => fresh.has(id))
  const kept = known.end.slice(Math.max(0, left))
  increment.end = ids.length >= kept.length ? ids : kept
  increment.total = page.total
  return explain(increment, fresh)
}

/** The far end cannot be read: calls leave there, so as many have left as the total lacks, if they are few. */
export function assumeLeft(increment: Increment, fresh: ReadonlySet<string>): IncrementProgress {
  const { known, total } = increment
  const lacking = known.total + fresh.size - total
  if (lacking > MOST_ASSUMED + known.total * SHARE_ASSUMED) return 'unexplained'
  increment.left = Math.max(0, lacking)
  increment.isAssumed = increment.left > 0
  return explain(increment, fresh)
}

/** The ids at the other end of the list by one page of it, from the outermost inwards. */
export function endOf({ calls }: Pick<ListPage, 'calls'>, order: ListKnowledge['order']): string[] {
  const ids = calls.map(({ id }) => id)
  return (order === 'newest first' ? ids.toReversed() : ids).slice(0, END_LENGTH)
}

function explain(increment: Increment, fresh: ReadonlySet<string>): IncrementProgress {
  const { total, known, unusable, left, goesOn, asksFarEnd } = increment
  const missing = total - known.total - fresh.size + (left ?? 0)
  if (missing >= 0 && missing <= unusable) {
    increment.isExcused = missing > 0
    return 'proven'
  }
  if (missing > 0 && goesOn) return 'on'
  return left === undefined && (missing < 0 || asksFarEnd) ? 'far end' : 'unexplained'
}
