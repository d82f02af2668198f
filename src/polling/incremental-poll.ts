import type { ListSnapshot } from '../ledger/state.ts'
import { oldestEndIds } from './oldest-end.ts'
import type { ListPage } from './poll-context.ts'

/**
 * A poll that reads the newest pages only. It is verified by the service's total, which must be the total of the last
 * successful poll, plus the new calls, less those that left the list at its oldest end.
 */
export type IncrementalPoll = {
  /** The list as the last successful poll left it. */
  readonly snapshot: ListSnapshot
  /** Whether a larger total needs the oldest end as well, because the last poll could not explain it either. */
  readonly needsOldestEnd: boolean
  /** The page to read next, and the last one that was read at the newest end. */
  page: number
  last: ListPage | undefined
  readonly seen: Set<string>
  /** The oldest median start of the pages so far (UNIX seconds). */
  oldest: number
  /** Number of invalid items, each of which may be new. */
  invalidItems: number
  /** Whether the next page may show more new calls. */
  mayHaveMore: boolean
  /** How many calls left at the oldest end, negative for rows that were added there; undefined until it was read. */
  left: number | undefined
  /** Ids at the oldest end, from the outermost inwards; empty if unknown. */
  oldestIds: readonly string[]
  /** A new call is at the oldest end, so the order is not what it was. */
  isMisplaced: boolean
  /** `left` was computed from the total, not seen. */
  isAssumed: boolean
  /** Invalid items were needed to explain the total; they may not be the missing ones. */
  reliesOnInvalid: boolean
  total: number
  lastPage: number
}

/** What must be read next, or the result: `verified` by the total, or the total is `unexplained`. */
export type Verification = 'next page' | 'oldest end' | 'verified' | 'unexplained'

/** The most calls that are assumed to have left unseen between two polls: a number, and a share of the list. */
const MAX_ASSUMED = 10
const SHARE_ASSUMED = 0.1

/** @param pageSize calls requested in one page, which may be fewer than when the list was last read */
export function newIncrementalPoll(snapshot: ListSnapshot, pageSize: number, needsOldestEnd: boolean): IncrementalPoll {
  const lastPage = Math.max(1, Math.ceil(snapshot.total / Math.min(snapshot.pageSize, pageSize)))
  return {
    snapshot,
    needsOldestEnd,
    page: snapshot.order === 'newest first' ? 1 : lastPage,
    last: undefined,
    seen: new Set(),
    oldest: Infinity,
    invalidItems: 0,
    mayHaveMore: true,
    left: undefined,
    oldestIds: snapshot.oldestIds,
    isMisplaced: false,
    isAssumed: false,
    reliesOnInvalid: false,
    total: snapshot.total,
    lastPage,
  }
}

/**
 * Adds a page from the newest end.
 *
 * @param newIds all calls that became known since the last successful poll, including those of this page
 */
export function addNewestPage(incremental: IncrementalPoll, page: ListPage, newIds: ReadonlySet<string>): Verification {
  const { snapshot, seen } = incremental
  const isFirst = incremental.last === undefined
  for (const { id } of page.calls) seen.add(id)
  incremental.oldest = Math.min(incremental.oldest, page.medianStart)
  incremental.invalidItems += page.items - page.calls.length
  if (page.total === undefined) return 'unexplained'
  incremental.total = page.total
  incremental.lastPage = page.lastPage ?? incremental.lastPage

  const backwards = snapshot.order === 'oldest first'
  if (backwards && isFirst && page.page !== incremental.lastPage) {
    // The number of pages has changed, and the newest calls are on another one.
    incremental.page = incremental.lastPage
    return 'next page'
  }
  const isLast = backwards ? page.page <= 1 : page.page >= incremental.lastPage
  incremental.last = page
  incremental.mayHaveMore = !isLast && page.calls.some(({ id }) => newIds.has(id))
  incremental.page = page.page + (backwards ? -1 : 1)
  // If the whole page is new, the next one may have new calls too, even if as many left at the oldest end and the total fits.
  const innermost = backwards ? page.calls[0] : page.calls.at(-1)
  if (incremental.mayHaveMore && innermost !== undefined && newIds.has(innermost.id)) return 'next page'
  return verify(incremental, newIds)
}

/** The number of the page at the oldest end. */
export function oldestEndPage({ snapshot, lastPage }: IncrementalPoll): number {
  return snapshot.order === 'newest first' ? lastPage : 1
}

/** Adds the page at the oldest end: calls that left, or were added there, explain a total that is too small or too large. */
export function addOldestEndPage(
  incremental: IncrementalPoll,
  page: ListPage,
  newIds: ReadonlySet<string>,
): Verification {
  const { snapshot } = incremental
  const ids = oldestEndIds(page, snapshot.order)
  if (page.total === undefined) return 'unexplained'
  if (snapshot.oldestIds.length === 0) {
    incremental.oldestIds = ids
    return assumeLeft(incremental, newIds)
  }
  const left = snapshot.oldestIds.indexOf(ids[0] ?? '')
  const knownAt = ids.indexOf(snapshot.oldestIds[0]!)
  if (left === -1 && knownAt === -1) return 'unexplained'
  const added = ids.slice(0, Math.max(0, knownAt))
  incremental.left = left === -1 ? -added.filter((id) => !newIds.has(id)).length : left
  incremental.isMisplaced = added.some((id) => newIds.has(id))
  const kept = snapshot.oldestIds.slice(Math.max(0, left))
  incremental.oldestIds = ids.length >= kept.length ? ids : kept
  incremental.total = page.total
  return verify(incremental, newIds)
}

/** Without the oldest end: assumes that the calls which the total lacks have left there, if they are few. */
export function assumeLeft(incremental: IncrementalPoll, newIds: ReadonlySet<string>): Verification {
  const { snapshot, total } = incremental
  const lacking = snapshot.total + newIds.size - total
  if (lacking > MAX_ASSUMED + snapshot.total * SHARE_ASSUMED) return 'unexplained'
  incremental.left = Math.max(0, lacking)
  incremental.isAssumed = incremental.left > 0
  return verify(incremental, newIds)
}

function verify(incremental: IncrementalPoll, newIds: ReadonlySet<string>): Verification {
  const { total, snapshot, invalidItems, left, mayHaveMore, needsOldestEnd } = incremental
  const missing = total - snapshot.total - newIds.size + (left ?? 0)
  if (missing >= 0 && missing <= invalidItems) {
    incremental.reliesOnInvalid = missing > 0
    return 'verified'
  }
  if (missing > 0 && mayHaveMore) return 'next page'
  return left === undefined && (missing < 0 || needsOldestEnd) ? 'oldest end' : 'unexplained'
}
