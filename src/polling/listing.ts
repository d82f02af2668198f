import { catchError, EMPTY, expand, tap, type Observable } from 'rxjs'
import { ownTime, type SeenCall } from '../ledger/call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'

/** What one look has seen so far. Made anew for each, and changed in place while its pages come in. */
export type Look = {
  /** The service's clock at the first and at the latest answer, and the host's at the latest (UNIX seconds). */
  began: number | undefined
  now: number
  host: number
  pages: number
  totalPages: number | undefined
  /** Ids that were listed with a usable status. */
  readonly listed: Set<string>
  /** Items that could not be used; each of them counts as one more of `total`. */
  unusable: number
  total: number | undefined
  /** Whether everything back to the horizon is proven to have been seen. */
  complete: boolean
  /** What cut the look short. */
  problem: ServiceError | undefined
}

export function newLook(): Look {
  const nothing = { began: undefined, now: 0, host: 0, pages: 0, totalPages: undefined, unusable: 0, total: undefined }
  return { ...nothing, listed: new Set(), complete: false, problem: undefined }
}

/** Times that must come in order before the order of a list is believed. */
const TIMES_FOR_ORDER = 10
/** How often the newest page is read again where calls came in while the list was read. */
const MAX_REREADS = 3

/**
 * The pages of List Calls, one after the other, until everything back to `horizon` (UNIX seconds) was seen or no
 * further page can help. Completeness is proven: by as many distinct items as the service says there are; by a page
 * that lies wholly before the horizon, where the list is newest first; or by an empty page, where no total is given.
 * A failing page ends the listing; `look.problem` says why. Never errors.
 */
export function listing$(
  look: Look,
  horizon: number,
  fetchPage: (page: number) => Observable<CallPage>,
): Observable<CallPage> {
  const order = newestFirst()
  let highest = 0
  let rereads = 0
  let withoutNews = 0

  const nextPage = (page: CallPage): number | undefined => {
    const known = look.listed.size
    const shrunk = page.total !== undefined && look.total !== undefined && page.total < look.total
    take(look, page)
    const goesOn = page.page > highest
    if (goesOn) order.read(page.calls)
    withoutNews = look.listed.size > known ? 0 : withoutNews + 1
    highest = Math.max(highest, page.page)

    // Something left the list and moved what follows: a call may have slipped back over the boundary.
    if (shrunk && goesOn && page.page > 1) return page.page - 1
    if (isProven(look)) return conclude(true)
    if (order.isConfirmed() && isPast(page.calls, horizon)) return conclude(true)
    const isLast = page.items === 0 || (look.total !== undefined && highest >= (look.totalPages ?? Infinity))
    if (!isLast && withoutNews < 3) return highest + 1
    if (page.items === 0 && look.total === undefined) return conclude(true)
    // Calls that came in meanwhile stand on the newest page, and that was read first.
    if (look.total !== undefined && rereads < MAX_REREADS) {
      rereads += 1
      return 1
    }
    return conclude(false)
  }

  const conclude = (complete: boolean): undefined => {
    look.complete = complete
    look.problem = complete ? undefined : new ServiceError('invalid', unproven(look))
  }

  return fetchPage(1).pipe(
    expand((page) => {
      const next = nextPage(page)
      return next === undefined ? EMPTY : fetchPage(next)
    }, 1),
    tap({ error: (error: ServiceError) => void (look.problem = error) }),
    catchError(() => EMPTY),
  )
}

function take(look: Look, page: CallPage): void {
  look.began ??= page.now
  look.now = page.now
  look.host = page.host
  look.pages += 1
  look.total = page.total
  look.totalPages = page.totalPages
  look.unusable += page.items - page.calls.length
  for (const { id } of page.calls) look.listed.add(id)
}

function isProven({ total, listed, unusable }: Look): boolean {
  return total !== undefined && listed.size + unusable >= total
}

function unproven({ total, listed, unusable }: Look): string {
  return total === undefined
    ? `the list did not end: after ${listed.size} calls its pages only repeated them`
    : `the service says that it lists ${total} calls, but only ${listed.size + unusable} were found on its pages`
}

function isPast(calls: readonly SeenCall[], horizon: number): boolean {
  return calls.length > 0 && calls.every((call) => (ownTime(call) ?? Infinity) < horizon)
}

/** Believes that a list is newest first once ten distinct times came in that order, and none out of it. */
function newestFirst(): { read: (calls: readonly SeenCall[]) => void; isConfirmed: () => boolean } {
  let oldest = Infinity
  let distinct = 0
  let contradicted = false
  return {
    read: (calls) => {
      for (const { initiatedAt, startedAt, endedAt } of calls) {
        const began = initiatedAt ?? startedAt ?? endedAt
        if (began === undefined) continue
        if (began > oldest) contradicted = true
        if (began < oldest) distinct += 1
        oldest = began
      }
    },
    isConfirmed: () => !contradicted && distinct >= TIMES_FOR_ORDER,
  }
}
