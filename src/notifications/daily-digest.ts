import { exhaustMap, ignoreElements, takeUntil, timer, type Observable } from 'rxjs'
import { dayName, dayOf, lastTime } from '../clock/calendar.ts'
import type { Clock } from '../clock/clock.ts'
import { onlyStoreErrors, type Store } from '../store/store.ts'
import type { DayFigures, DigestMessage } from './message.ts'

export type DigestOptions = {
  /** `HH:MM`. */
  at: string
  timezone: string
  clock: Clock
  store: Pick<Store, 'countFinished' | 'usedMinutes' | 'enqueueOnce'>
  /** With when each was set up (UNIX seconds). */
  targets: () => readonly { name: string; created: number }[]
  /** Its recipients. */
  receivers: readonly string[]
  stop$: Observable<unknown>
}

const MINUTE_MS = 60_000
const WEEK = 7 * 86_400
/** A digest that could not be made for longer than this (seconds) is no news any more. */
const LATEST = 12 * 3600

/**
 * Puts a digest of the day before into the outbox, each day at its time, once: also when the daemon was away just then.
 * Emits nothing; a store that cannot be used is asked again a minute later.
 */
export function dailyDigest(options: DigestOptions): Observable<never> {
  const { at, timezone, clock, store, receivers, stop$ } = options
  const [hour, minute] = at.split(':').map(Number)
  let done: number | undefined

  async function makeIfDue(): Promise<void> {
    const now = clock.wall()
    const due = lastTime(`${minute} ${hour} * * *`, timezone, now)
    if (due === undefined || due === done || now - due > LATEST) return
    const digest = await digestOf(options, due)
    if (digest.targets.length > 0) {
      await store.enqueueOnce(`digest of ${digest.day}`, { kind: 'digest', digest }, receivers)
    }
    done = due
  }

  return timer(0, MINUTE_MS, clock.scheduler).pipe(
    takeUntil(stop$),
    exhaustMap(() => makeIfDue().catch(onlyStoreErrors(undefined))),
    ignoreElements(),
  )
}

/** The day before the one that a moment is in (UNIX seconds). Targets that did not exist on that day are left out. */
async function digestOf({ targets, store, timezone }: DigestOptions, moment: number): Promise<DigestMessage> {
  const day = dayOf(dayOf(moment, timezone).from - 1, timezone)
  // Noon is in the same calendar day a week before, whatever the clocks were set to meanwhile.
  const weekBefore = dayOf((day.from + day.to) / 2 - WEEK, timezone)
  const existing = targets().filter(({ created }) => created < day.to)
  const figuresOf = async (name: string, { from, to }: typeof day): Promise<DayFigures> => {
    const [counts, minutes] = [store.countFinished(name, from, to), store.usedMinutes(name, from, to)]
    return { counts: await counts, minutes: await minutes }
  }
  return {
    kind: 'digest',
    day: dayName(day.from, timezone),
    timezone,
    targets: await Promise.all(
      existing.map(async ({ name, created }) => ({
        target: name,
        day: await figuresOf(name, day),
        weekBefore: created <= weekBefore.from ? await figuresOf(name, weekBefore) : undefined,
      })),
    ),
  }
}
