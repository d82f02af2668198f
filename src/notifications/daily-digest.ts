import { lastTime } from '../clock/calendar.ts'
import type { Clock } from '../clock/clock.ts'
import { coverageOf, lengthOf } from '../history/coverage.ts'
import { daysOf } from '../history/days.ts'
import { figuresOf } from '../history/sums.ts'
import { usageOf } from '../history/usage.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import type { Store } from '../store/store.ts'
import type { Report } from './delivery/reports.ts'
import type { DayFigures, DigestMessage } from './message.ts'

export type DigestOptions = {
  /** The time of day (`HH:MM`) and its time zone; undefined if no digest is configured. */
  settings: () => { digest: { at: string; timezone: string } | undefined }
  clock: Clock
  store: Pick<Store, 'rows'>
  /** All targets, and since when the calls of each are counted. */
  targets: () => readonly (Pick<SyncState, 'created' | 'past'> & { name: string })[]
}

const MINUTE = 60
const DAY = 86_400
/** A digest that is later than this (seconds) is not sent any more. */
const MAX_LATE_SECONDS = 12 * 3600
/** If polls have not covered this much of the day yet (seconds), the digest waits for them, up to the limit below. */
const MISSING_SECONDS = 3600
const MAX_WAIT_SECONDS = 2 * 3600

/**
 * Makes a digest of the previous day once a day, at its time. If the daemon was down at that time, it does so later. If an
 * hour of the day is not covered yet, and polls may still show its calls, the digest waits up to two hours. Call it every
 * minute.
 *
 * @returns undefined if none is due
 *
 * @throws {StoreError}
 */
export function dailyDigest(options: DigestOptions): () => Promise<Report | undefined> {
  const { clock } = options
  let begun = clock.wall()
  let calledAt = clock.monotonic()
  let done: number | undefined

  return async () => {
    // Another daemon may have been responsible meanwhile.
    if (clock.monotonic() - calledAt > 2 * MINUTE) begun = clock.wall()
    calledAt = clock.monotonic()
    const { digest: configured } = options.settings()
    if (configured === undefined) return undefined
    const { at, timezone } = configured
    const [hour, minute] = at.split(':').map(Number)
    const now = clock.wall()
    const due = lastTime(`${minute} ${hour} * * *`, timezone, now)
    if (due === undefined || due === done || now - due > MAX_LATE_SECONDS) return undefined
    const last = Math.min(Math.max(due, begun) + MAX_WAIT_SECONDS, due + MAX_LATE_SECONDS - MINUTE)
    const digest = await digestOf(options, { timezone, due, now, mayWait: now < last })
    if (digest === undefined) return undefined
    done = due
    return digest.targets.length === 0
      ? undefined
      : { keys: [`digest of ${digest.day}`], due, until: due + MAX_LATE_SECONDS, message: digest }
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
  // The last of them is that of the digest itself. Nine times 24 hours back is before the day a week earlier, also if the clocks changed.
  const days = daysOf({ from: due - 9 * DAY, to: due + 1 }, timezone)
  const daysAgo = (n: number) => ({ ...days.at(-1 - n)!, to: days.at(-n)!.from })
  const [day, weekBefore] = [daysAgo(1), daysAgo(8)]
  const existing = targets().filter((target) => knownSince(target) < day.to)
  const names = existing.map(({ name }) => name)
  const blindIn = async (period: typeof day) => (await coverageOf(store, period, { targets: names, now })).blind
  const blind = [...(await blindIn(day)), ...(await blindIn(weekBefore))]
  if (mayWait && blind.some(({ kind, from, to }) => kind === 'now' && to - from >= MISSING_SECONDS)) return undefined
  const figuresIn = async ({ from, to }: typeof day) => {
    const rows = await usageOf(store, { from, to, by: ['target'], zone: timezone, targets: names })
    const sums = new Map(rows.map((row) => [row.keys.target, row.sums]))
    return (name: string): DayFigures => {
      const unseen = blind.filter((time) => time.target === name && time.from >= from && time.to <= to)
      return { ...figuresOf(sums.get(name)), blindSeconds: lengthOf(unseen) }
    }
  }
  const [ofDay, ofWeekBefore] = [await figuresIn(day), await figuresIn(weekBefore)]
  return {
    kind: 'digest',
    day: day.name,
    timezone,
    targets: existing.map((target) => ({
      target: target.name,
      day: ofDay(target.name),
      weekBefore: knownSince(target) <= weekBefore.from ? ofWeekBefore(target.name) : undefined,
    })),
  }
}
