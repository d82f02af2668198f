import { defer, EMPTY, startWith, Subject, switchMap, timer } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { TRIGGERS, type Hint, type WebhookTrigger } from '../ledger/hint.ts'
import { formsOf, type App } from '../ledger/session-id.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

type Shown = Pick<LedgerState, 'calls'>
/** `due` is when the next request for it is due (monotonic seconds), after so many `requests`. */
type Entry = { shows: (typeof TRIGGERS)[WebhookTrigger]; due: number; requests: number }

/** How long an end waits for other hints, to share a request with them (seconds). */
const END_SECONDS = 0.5
/** Seconds for each request that was made before the next one begins: 40 requests a minute at most. */
const SECONDS_PER_REQUEST = 1.5
/** When a call is requested again that did not show its end: lists lag behind webhooks (seconds). */
const REPEAT_SECONDS = [2, 5, 10]
const DROPPED: Pick<Entry, 'shows' | 'requests'> = { shows: 'change', requests: 0 }
/** Of more hints, the oldest are dropped. The request for the others finds their calls as well, or else the next poll. */
const MAX_HINTS = 1000

export type HintQueue = ReturnType<typeof hintQueue>

/**
 * The hints of a target, until the service has shown what they announced. Changed in place.
 *
 * An end is requested within a second. Other hints cause no request of their own: they share that of an end, or the next poll
 * finds what they announce. So a call costs one request, however many webhooks it has.
 *
 * @param app of the target, by which the session that a hint names is found, in whichever form the list shows its id
 */
export function hintQueue(clock: Clock, app: App) {
  const entries = new Map<string, Entry>()
  const changed$ = new Subject<void>()
  let notBefore = -Infinity
  /** When the next hinted request is due (monotonic seconds). */
  let next = Infinity

  /** Whether callwatch knows of a session what a hint announced. If none of its calls is open, nothing more is expected. */
  function isShown(session: string, shows: Entry['shows'], ledger: Shown): boolean {
    const known = callsOf(session, app, ledger)
    const call = known.find(({ phase }) => phase === 'open')
    if (call === undefined) return known.length > 0
    return shows === 'begun' || (shows === 'started' && call.status !== 'initiated')
  }

  function schedule(): void {
    next = Math.max(notBefore, Math.min(Infinity, ...entries.values().map(({ due }) => due)))
    changed$.next()
  }

  return {
    add: ({ id, trigger }: Hint) => {
      const shows = TRIGGERS[trigger]
      const before = entries.get(id)
      if (shows === 'change' || (before?.shows === 'end' && before.requests === 0)) return
      if (entries.size >= MAX_HINTS && before === undefined) entries.delete(entries.keys().next().value!)
      const due = shows === 'end' ? clock.monotonic() + END_SECONDS : Infinity
      entries.set(id, { shows, due, requests: 0 })
      if (Math.max(notBefore, due) < next) schedule()
    },
    /** Emits when a hinted request is due. After each emission, call `requested` or `postpone`. */
    due$: defer(() =>
      changed$.pipe(
        startWith(undefined),
        switchMap(() =>
          next === Infinity ? EMPTY : timer(Math.max(0, next - clock.monotonic()) * 1000, clock.scheduler),
        ),
      ),
    ),
    /** The sessions to request, without those that already show what was announced. */
    takeDue: (ledger: Shown): string[] => {
      const now = clock.monotonic()
      for (const [id, { shows }] of entries) if (isShown(id, shows, ledger)) entries.delete(id)
      return [...entries].flatMap(([id, { due, requests }]) => (requests === 0 || due <= now ? [id] : []))
    },
    /**
     * After a hinted request. Ends that it did not show are due again later.
     *
     * @param requestsMade by it
     */
    requested: (sessions: readonly string[], ledger: Shown, requestsMade: number) => {
      const now = clock.monotonic()
      notBefore = now + SECONDS_PER_REQUEST * requestsMade
      for (const id of sessions) {
        // It may have been dropped during the request.
        const { shows, requests } = entries.get(id) ?? DROPPED
        const delay = shows === 'end' ? REPEAT_SECONDS[requests] : undefined
        if (delay === undefined || isShown(id, shows, ledger)) entries.delete(id)
        else entries.set(id, { shows, due: now + delay, requests: requests + 1 })
      }
      schedule()
    },
    /** No hinted request is possible for this many seconds. */
    postpone: (seconds: number) => {
      notBefore = clock.monotonic() + seconds
      schedule()
    },
  }
}

/** The calls of a session that a hint names. */
export function callsOf(session: string, app: App, { calls }: Shown): TrackedCall[] {
  return formsOf(session, app).flatMap((form) => calls.ofSession(form))
}
