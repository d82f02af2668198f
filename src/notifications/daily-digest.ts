import { dayName, dayOf, lastTime } from '../clock/calendar.ts'
import type { Clock } from '../clock/clock.ts'
import { coverageOf, lengthOf } from '../history/coverage.ts'
import type { Store } from '../store/store.ts'
import type { DayFigures, DigestMessage } from './message.ts'

export type DigestOptions = {
  /** The time of day (`HH:MM`), its time zone and the recipients; undefined if no digest is configured. */
  digest: () => { at: string; timezone: string; receivers: readonly string[] } | undefined
  clock: Clock
  store: Pick<Store, 'countFinished' | 'usedMinutes' | 'enqueueOnce' | 'rows'>
  /** All targets, and when each was created (UNIX seconds). */
  targets: () => readonly { name: string; created: number }[]
}

const MINUTE = 60
const WEEK = 7 * 86_400
/** A digest that is later than this (seconds) is not sent any more. */
const MAX_LATE_SECONDS = 12 * 3600
/** If polls have not covered this much of the day yet (seconds), the digest waits for them, up to the limit below. */
const MISSING_SECONDS = 3600
const MAX_WAIT_SECONDS = 2 * 3600

/**
 * Enqueues a digest of the previous day once a day, at its time. If the daemon was down at that time, it does so later. If an
 * hour of the day is not covered yet, and polls may still show its calls, the digest waits up to two hours. Call it every
 * minute.
 *
 * @throws {StoreError}
 */
export function dailyDigest(options: DigestOptions): () => Promise<void> {
  const { clock, store } = options
  let begun = clock.wall()
  let calledAt = clock.monotonic()
  let done: number | undefined

  return async () => {
    // Another daemon may have been responsible meanwhile.
    if (clock.monotonic() - calledAt > 2 * MINUTE) begun = clock.wall()
    calledAt = clock.monotonic()
    const configured = options.digest()
    if (configured === undefined) return
    const { at, timezone, receivers } = configured
    const [hour, minute] = at.split(':').map(Number)
    const now = clock.wall()
    const due = lastTime(`${minute} ${hour} * * *`, timezone, now)
    if (due === undefined || due === done || now - due > MAX_LATE_SECONDS) return
    const last = Math.min(Math.max(due, begun) + MAX_WAIT_SECONDS, due + MAX_LATE_SECONDS - MINUTE)
    const digest = await digestOf(options, { timezone, due, now, mayWait: now < last })
    if (digest === undefined) return
    if (digest.targets.length > 0) {
      await store.enqueueOnce([`digest of ${digest.day}`], { kind: 'digest', digest }, receivers)
    }
    done = due
  }
}

/**
 * The figures of the day before `due` (UNIX seconds); undefined while the digest waits for polls. Targets that did not exist
 * on that day are left out.
 */
async function digestOf(
  { targets, store }: DigestOptions,
  { timezone, due, now, mayWait }: { timezone: string; due: number; now: number; mayWait: boolean },
): Promise<DigestMessage | undefined> {
  const day = dayOf(dayOf(due, timezone).from - 1, timezone)
  // Noon minus seven days is in the same calendar day of the week before, even if daylight saving time changed.
  const weekBefore = dayOf((day.from + day.to) / 2 - WEEK, timezone)
  const existing = targets().filter(({ created }) => created < day.to)
  const names = existing.map(({ name }) => name)
  const blindIn = async (period: typeof day) => (await coverageOf(store, period, { targets: names, now })).blind
  const blind = [...(await blindIn(day)), ...(await blindIn(weekBefore))]
  if (mayWait && blind.some(({ kind, from, to }) => kind === 'now' && to - from >= MISSING_SECONDS)) return undefined
  const figuresOf = async (name: string, { from, to }: typeof day): Promise<DayFigures> => {
    const [counts, minutes] = [store.countFinished(name, from, to), store.usedMinutes(name, from, to)]
    const unseen = blind.filter((time) => time.target === name && time.from >= from && time.to <= to)
    return { counts: await counts, minutes: await minutes, blindSeconds: lengthOf(unseen) }
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
