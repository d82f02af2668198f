import { getCalls } from './api.js'
import { serverTime } from './server-time.js'
import { change, current } from './state.js'
import { parameterTime } from './period.js'

/** @import { Explorer } from './state.js' */

/** So many calls are added at a time. */
const PAGE_SIZE = 100
/** Filters that the API has by the same names. */
const FILTERS = ['type', 'mode', 'receiver_type', 'status', 'has_recording', 'session_id']
/** The statuses that select calls in progress. The first one selects all of them. */
export const IN_PROGRESS = ['in_progress', 'initiated', 'ongoing']

/** @param {URLSearchParams} query */
export const isInProgress = (query) => IN_PROGRESS.includes(query.get('status') ?? '')

/**
 * The parameters of `/api/v1/calls` for the parameters of the view.
 *
 * @param {URLSearchParams} query
 * @param {number} now milliseconds since 1970
 * @throws {RangeError} where the period is none
 */
export function explorerRequest(query, now) {
  const request = new URLSearchParams()
  if (!isInProgress(query)) {
    const [since, until] = [parameterTime(query, 'since', now) ?? 0, parameterTime(query, 'until', now)]
    if (until !== undefined && since >= until) throw new RangeError('“From” is not before “To”')
    request.set('since', new Date(since).toISOString())
    if (until !== undefined) request.set('until', new Date(until).toISOString())
  }
  for (const target of query.getAll('target')) request.append('target', target)
  for (const name of FILTERS) {
    const value = query.get(name) ?? ''
    if (value !== '' && !(name === 'status' && value === 'in_progress')) request.set(name, value)
  }
  return request.toString()
}

let running = new AbortController()

/** Loads the newest calls that the parameters of the view select. */
export async function loadExplorer() {
  const { query } = current()
  const now = serverTime()
  const empty = { calls: [], next: undefined, asOf: new Date(now).toISOString() }
  try {
    change({ explorer: { ...empty, request: explorerRequest(query, now), isLoading: false, problem: undefined } })
  } catch (error) {
    change({ explorer: { ...empty, request: '', isLoading: false, problem: `${messageOf(error)}.` } })
    return
  }
  await loadOlder()
}

/** Adds the calls before those that are shown. It goes on while the server has searched without finding enough. */
export async function loadOlder() {
  running.abort()
  running = new AbortController()
  const { signal } = running
  const wanted = current().explorer.calls.length + PAGE_SIZE
  set({ isLoading: true, problem: undefined })
  try {
    for (let isMore = true; isMore;) {
      const { request, calls, next } = current().explorer
      const cursor = next === undefined ? '' : `&cursor=${next}`
      const page = await getCalls(`${request}&limit=${wanted - calls.length}${cursor}`, signal)
      if (signal.aborted) return
      const all = [...calls, ...page.calls]
      set({ calls: all, next: page.next })
      isMore = page.next !== undefined && all.length < wanted
    }
    set({ isLoading: false })
  } catch (error) {
    if (!signal.aborted) set({ isLoading: false, problem: `The calls could not be loaded: ${messageOf(error)}.` })
  }
}

/**
 * Keeps what is being typed, which the address has once it is complete.
 *
 * @param {string} typed
 */
export const typeSessionId = (typed) => set({ typed })

/** Ends the search; what it has found stays. */
export function stopSearch() {
  running.abort()
  set({ isLoading: false })
}

/** @param {Partial<Explorer>} changed */
const set = (changed) => change({ explorer: { ...current().explorer, ...changed } })

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))
