import { defer, EMPTY, startWith, Subject, switchMap, timer } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { TRIGGERS, type Hint, type Trigger } from '../ledger/hint.ts'
import type { LedgerState } from '../ledger/state.ts'
import { END_SECONDS, REPEAT_SECONDS, unnamedEnds } from './unnamed-ends.ts'

type Shown = Pick<LedgerState, 'calls' | 'open' | 'counters'>
/** `due` is when the next look for it is due (monotonic seconds), after so many `looks`. */
type Entry = { shows: (typeof TRIGGERS)[Trigger]; due: number; looks: number }

/** Seconds for each request of the last look before the next look begins: 40 requests a minute at most. */
const SECONDS_PER_REQUEST = 1.5
const DROPPED: Pick<Entry, 'shows' | 'looks'> = { shows: 'change', looks: 0 }
/** Of more hints, the oldest are dropped. The look for the others finds their calls as well, or else the next poll. */
const MAX_HINTS = 1000

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
      if (shows === 'change' || before?.shows === 'end') return
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
     * The calls to look at, without those that already show what was announced. For ends without an id, all that ring, and an id
     * that no call has: a call may be one that callwatch has not seen.
     */
    take: (ledger: Shown): string[] => {
      const now = clock.monotonic()
      for (const [id, { shows }] of entries) if (isShown(id, shows, ledger)) entries.delete(id)
      const named = [...entries].flatMap(([id, { due, looks }]) => (looks === 0 || due <= now ? [id] : []))
      return [...new Set([...named, ...unnamed.take(ledger)])]
    },
    /**
     * After a look. Ends that it did not show are due again later.
     *
     * @param requests how many requests the look made
     */
    looked: (ids: readonly string[], ledger: Shown, requests: number) => {
      const now = clock.monotonic()
      notBefore = now + SECONDS_PER_REQUEST * requests
      unnamed.looked(ids, ledger)
      for (const id of ids) {
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

/** Whether callwatch knows of a call what a hint announced. Of a call that is not open, nothing more is expected. */
function isShown(id: string, shows: Entry['shows'], { calls, open }: Shown): boolean {
  const call = open.get(id)
  if (call === undefined) return calls.has(id)
  return shows === 'begun' || (shows === 'started' && call.status !== 'initiated')
}
