import { defer, EMPTY, startWith, Subject, switchMap, timer } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { TRIGGERS, type Hint, type Trigger } from '../ledger/hint.ts'
import type { LedgerState } from '../ledger/state.ts'
import { unnamedEnds } from './unnamed-ends.ts'

type Shown = Pick<LedgerState, 'calls' | 'open' | 'counters' | 'sync'>
/** `due` is when the next look for it is due (monotonic seconds), after so many `looks`. */
type Entry = { shows: (typeof TRIGGERS)[Trigger]; due: number; looks: number }

/** How long an end waits for other hints, to share a look with them (seconds). */
const END_SECONDS = 0.5
/** Seconds for each request of the last look before the next look begins: 40 requests a minute at most. */
const SECONDS_PER_REQUEST = 1.5
/** When a call is looked at again that did not show its end: lists lag behind webhooks (seconds). */
const REPEAT_SECONDS = [2, 5, 10]
const DROPPED: Pick<Entry, 'shows' | 'looks'> = { shows: 'change', looks: 0 }
/** Of more hints, the oldest are dropped. The look for the others finds their calls as well, or else the next poll. */
const MAX_HINTS = 1000

/** The sessions to look at, and whether a request for one of them is not enough. */
export type TakenHints = { sessions: string[]; needsPoll: boolean }

export type HintQueue = ReturnType<typeof hintQueue>

/**
 * The hints of a target, until the service has shown what they announced. Changed in place.
 *
 * An end is looked at within a second. Other hints cause no request of their own: they share the look of an end, or the next poll
 * finds what they announce. So a call costs one request, however many webhooks it has.
 */
export function hintQueue(clock: Clock) {
  const entries = new Map<string, Entry>()
  const unnamed = unnamedEnds(clock)
  const changed$ = new Subject<void>()
  let notBefore = -Infinity
  /** When the next look is due (monotonic seconds). */
  let next = Infinity

  function schedule(): void {
    next = Math.max(notBefore, Math.min(unnamed.due(), ...entries.values().map(({ due }) => due)))
    changed$.next()
  }

  return {
    /** @param ledger the state of the target, if it is loaded */
    add: ({ id, trigger }: Hint, ledger?: Shown) => {
      if (id === undefined) {
        unnamed.add(ledger)
        return schedule()
      }
      const shows = TRIGGERS[trigger]
      const before = entries.get(id)
      if (shows === 'change' || (before?.shows === 'end' && before.looks === 0)) return
      if (entries.size >= MAX_HINTS && before === undefined) entries.delete(entries.keys().next().value!)
      const due = shows === 'end' ? clock.monotonic() + END_SECONDS : Infinity
      entries.set(id, { shows, due, looks: 0 })
      if (Math.max(notBefore, due) < next) schedule()
    },
    /** Emits when a look is due. After each emission, call `looked` or `postpone`. */
    due$: defer(() =>
      changed$.pipe(
        startWith(undefined),
        switchMap(() =>
          next === Infinity ? EMPTY : timer(Math.max(0, next - clock.monotonic()) * 1000, clock.scheduler),
        ),
      ),
    ),
    /**
     * The sessions to look at, without those that already show what was announced. For an end without an id these are all that ring,
     * and only a poll shows it: the call may be one that callwatch has not seen.
     */
    take: (ledger: Shown): TakenHints => {
      const now = clock.monotonic()
      for (const [id, { shows }] of entries) if (isShown(id, shows, ledger)) entries.delete(id)
      const named = [...entries].flatMap(([id, { due, looks }]) => (looks === 0 || due <= now ? [id] : []))
      const { isDue: needsPoll, ringing } = unnamed.take(ledger)
      return { sessions: [...new Set([...named, ...ringing])], needsPoll }
    },
    /**
     * After a look. Ends that it did not show are due again later.
     *
     * @param requests how many requests the look made
     */
    looked: (sessions: readonly string[], ledger: Shown, requests: number) => {
      const now = clock.monotonic()
      notBefore = now + SECONDS_PER_REQUEST * requests
      unnamed.looked(ledger)
      for (const id of sessions) {
        // It may have been dropped during the look.
        const { shows, looks } = entries.get(id) ?? DROPPED
        const delay = shows === 'end' ? REPEAT_SECONDS[looks] : undefined
        if (delay === undefined || isShown(id, shows, ledger)) entries.delete(id)
        else entries.set(id, { shows, due: now + delay, looks: looks + 1 })
      }
      schedule()
    },
    /** No look is possible for this many seconds. */
    postpone: (seconds: number) => {
      notBefore = clock.monotonic() + seconds
      schedule()
    },
  }
}

/** Whether callwatch knows of a session what a hint announced. If none of its calls is open, nothing more is expected. */
function isShown(session: string, shows: Entry['shows'], { calls }: Shown): boolean {
  const known = calls.ofSession(session)
  const call = known.find(({ phase }) => phase === 'open')
  if (call === undefined) return known.length > 0
  return shows === 'begun' || (shows === 'started' && call.status !== 'initiated')
}
