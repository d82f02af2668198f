import { findCalls, getCall, getCalls, type Call, type FoundCalls } from './api.ts'
import { rings } from '../../../views/call-text.ts'
import { RULE_LABELS } from '../../../alerts/groups.ts'
import { addressOf } from './address.ts'
import { loadMeanwhile } from './alerts/meanwhile.ts'
import { isoOf } from './format.ts'
import { addFilters, periodOf } from './period.ts'
import { change, current, initialState, load, messageOf, serverTime, type CallsList, type State } from './state.ts'

/** So many calls are added at a time. */
const PAGE_SIZE = 100
/** Filters that the API has by the same names. */
const FILTERS = [...RULE_LABELS, 'status', 'has_recording', 'session_id']
/** The statuses that select calls in progress. The first one selects all of them. */
export const IN_PROGRESS = ['in_progress', 'initiated', 'ongoing']

export const isInProgress = (query: URLSearchParams) => IN_PROGRESS.includes(query.get('status') ?? '')

/**
 * The parameters of `/api/v1/calls` for the parameters of the view.
 *
 * @param now milliseconds since 1970
 * @throws {RangeError} where the period is none
 */
export function callsRequest(query: URLSearchParams, now: number) {
  const request = new URLSearchParams(isInProgress(query) ? {} : periodOf(query, '1970-01-01T00:00:00Z', now, Infinity))
  addFilters(request, query, isInProgress(query) ? [...FILTERS, 'longer_than'] : [...FILTERS, 'began'])
  if (request.get('status') === 'in_progress') request.set('status', 'initiated,ongoing')
  return request.toString()
}

let running = new AbortController()

/** Loads the newest calls that the view selects. */
export async function loadCalls() {
  stopSearch()
  // Only a snapshot has the time of the server; the clock of this machine may be wrong.
  if (current().snapshot === undefined) return
  change({ calls: { ...initialState.calls, asOf: new Date(serverTime()).toISOString() } })
  await search([], PAGE_SIZE)
}

/** Adds the calls before those that are shown. */
export const loadOlder = () => search(current().calls.calls, current().calls.calls.length + PAGE_SIZE)

/** Continues while the server has searched without finding enough. */
async function search(found: CallsList['calls'], wanted: number) {
  running.abort()
  running = new AbortController()
  const { signal } = running
  set({ isLoading: true, problem: undefined })
  try {
    const {
      query,
      calls: { request: known, asOf },
    } = current()
    const request = known || callsRequest(query, Date.parse(asOf))
    set({ request })
    for (let [calls, isMore] = [found, true]; isMore;) {
      const { next } = current().calls
      const cursor = next === undefined ? '' : `&cursor=${next}`
      const page = await getCalls(`${request}&limit=${wanted - calls.length}${cursor}`, signal)
      if (signal.aborted) return
      calls = [...calls, ...page.calls]
      set({ calls, next: page.next })
      isMore = page.next !== undefined && calls.length < wanted
    }
    set({ isLoading: false })
  } catch (error) {
    if (!signal.aborted) set({ isLoading: false, problem: `The calls could not be loaded: ${messageOf(error)}.` })
  }
}

/** Keeps what is being typed, which the address has once it is complete. */
export const typeSessionId = (typed: string) => set({ typed })

/** Ends the search; what it has found stays. */
export function stopSearch() {
  running.abort()
  set({ isLoading: false })
}

const set = (changed: Partial<CallsList>) => change({ calls: { ...current().calls, ...changed } })

/** The id of the call that an address names. Addresses from before sessions had several calls have it as `session_id`. */
export const callIdIn = (query: URLSearchParams) => query.get('call_id') ?? query.get('session_id') ?? ''

/** Loads the call that the address names, by its id, or by its session and when it began; and the alerts that fired during it. */
export async function loadCall() {
  const { query } = current()
  const [target, id, began] = [query.get('target') ?? '', callIdIn(query), query.get('began')]
  const ask = async () => {
    if (target === '' || id === '') throw new Error('the address names no call: it needs target and call_id')
    const first = await getCall(target, id)
    if (began === null) return first
    const distance = (call: Call) => Math.abs(Date.parse(call.began) - Date.parse(began))
    const { call_id } = [first.call, ...first.others.calls].toSorted((a, b) => distance(a) - distance(b))[0]!
    return call_id === first.call.call_id ? first : getCall(target, call_id)
  }
  await load('callPage', `${target}|${id}|${began}`, ask, 'The call could not be loaded')
  const { answer } = current().callPage
  if (answer !== undefined) await loadMeanwhile(answer.call)
}

/** The address of the page of a call that the service shows, which does not know its id. */
export const addressOfFound = (target: string, { session_id, began }: FoundCalls['calls'][number]) =>
  addressOf('call', { target, session_id, began: began ?? '' })

/** Whose calls the service is asked for. */
export type Wanted = Omit<State['wanted'], 'since'> & { since?: string }

/** The request for the calls of a user, a group or a session. */
export const findRequest = ({ target, by, id, since = '' }: Wanted) =>
  new URLSearchParams({ target, [by]: id.trim(), ...(since !== '' && { since }) }).toString()

/** Asks the service, which takes a request of its own. */
export const askService = (request: string) =>
  load('found', request, (signal) => findCalls(request, signal), 'The service was not searched')

/** Asks the service for the calls that the form names. */
export function findWanted() {
  const { wanted, target, snapshot } = current()
  return askService(findRequest({ ...wanted, target: wanted.target || target || snapshot!.targets[0]!.name }))
}

/** Reloads the call after an event of it or of its session, if it is shown. */
export function loadCallAfter({ target, call_id: id, session_id }: Pick<Call, 'target' | 'call_id' | 'session_id'>) {
  const { view, query, callPage } = current()
  const { call } = callPage.answer ?? {}
  const isOfSession = call?.target === target && call.session_id === session_id
  const isNamed = query.get('target') === target && callIdIn(query) === id
  if (view === 'call' && (isOfSession || isNamed)) void loadCall()
}

type Meaning = { text: string; runbook?: string }

/** What each status means, and the runbook that says what to check. */
const MEANINGS: Record<Call['status'], Meaning> = {
  initiated: {
    text: 'means that it still rings. A client gives up after 45 s, unless its app sets another time; a call that rings longer blocks the next calls of its users.',
    runbook: 'RingingTooLong',
  },
  ongoing: {
    text: 'means that people talk, or that a client crashed without ending the call.',
    runbook: 'StuckCalls',
  },
  ended: { text: 'means that the call was answered, and is over. Who heard what, the service does not say.' },
  unanswered: {
    text: 'means that the caller’s app gave up, after 45 s unless it sets another time. If many calls end so, pushes may not arrive.',
    runbook: 'HighFailureRate',
  },
  rejected: {
    text: 'means that who was called declined, or their app did so on its own, as in another call. If many calls end so, a client may have crashed in a call.',
    runbook: 'HighFailureRate',
  },
  canceled: {
    text: 'means that the caller gave up before an answer. If many calls end so, it may take too long to answer.',
    runbook: 'HighFailureRate',
  },
  other: { text: 'means that the service shows a status that it does not document: poll.status_map can name it.' },
  lost: { text: 'means that the service no longer knows the call. It counts neither as ended nor as failed.' },
}

const MEETING_ENDED: Meaning = {
  text: 'means that all have left, or that it was ended for all. Who heard what, the service does not say.',
}

/** What the status of a call means, and what to check. */
export const meaningOf = ({ status, mode }: Pick<Call, 'status' | 'mode'>): Meaning =>
  status === 'ended' && !rings(mode) ? MEETING_ENDED : MEANINGS[status]

/** So much before and after a call, other calls may show what was wrong (seconds). */
const AROUND = 300

/** The address of the calls of its target that finished from shortly before a call to shortly after it. */
export function addressAround({ target, began, finished }: Call) {
  const since = isoOf(Date.parse(began) / 1000 - AROUND)
  return addressOf('calls', { target, since, until: finished ? isoOf(Date.parse(finished) / 1000 + AROUND) : '' })
}

/** The address of what the API says of a call. */
export const jsonOf = ({ target, call_id }: Pick<Call, 'target' | 'call_id'>) =>
  `api/v1/call?${new URLSearchParams({ target, call_id })}`
