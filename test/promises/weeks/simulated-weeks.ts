import type { Rule } from '../../../src/alerts/rule.ts'
import { replay, type History } from '../../../src/alerts/replay.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'
import { exponential, random } from '../../../src/simulator/random.ts'
import { finishAt, shippedRules } from '../../kit/alerts/sample-rules.ts'

export const HOUR = 3600
export const DAY = 24 * HOUR
export const WEEK = 7 * DAY

/** How often calls are made in each hour of the day, and on each day of the week from Monday on. */
const HOURS = [4, 3, 2, 2, 3, 6, 12, 20, 30, 38, 40, 38, 32, 36, 40, 39, 35, 30, 27, 25, 22, 17, 11, 7]
const DAYS = [12, 13, 13, 13, 12, 6, 5]
const mean = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0) / weights.length
const MEAN = mean(HOURS) * mean(DAYS)

export type Weeks = {
  seed: number
  /** Calls an hour, on average. */
  rate: number
  /** The zone whose clocks the callers follow. */
  timezone?: string
  from: number
  to: number
  /** By which factor fewer or more calls are made at a time (UNIX seconds). */
  factor?: (time: number) => number
  /** Which share of the calls is not answered at a time; default: none. */
  unanswered?: (time: number) => number
}

/** The ends of the calls of some weeks, which follow the hour and the day (UNIX seconds). */
export function endsOf({ seed, rate, timezone = 'UTC', from, to, factor = () => 1 }: Weeks): number[] {
  const draw = random(seed, 'weeks')
  const ends: number[] = []
  for (let hour = from; hour < to; hour += HOUR) {
    const local = Temporal.Instant.fromEpochMilliseconds(hour * 1000).toZonedDateTimeISO(timezone)
    const activity = (HOURS[local.hour]! * DAYS[local.dayOfWeek - 1]!) / MEAN
    const gap = HOUR / (rate * activity * factor(hour))
    if (gap === Infinity) continue
    for (let at = hour + exponential(draw, gap); at < hour + HOUR; at += exponential(draw, gap)) ends.push(at)
  }
  return ends
}

/** Seconds between two polls. More often than that changes little, and takes long. */
const INTERVAL = 300

/** What callwatch knows of weeks that it polled. */
export function historyOf(weeks: Weeks, gaps: History['gaps'] = []): History {
  const isSeen = (at: number) => !gaps.some(({ from, to }) => at >= from && at < to)
  const { seed, unanswered = () => 0 } = weeks
  const draw = random(seed, 'outcomes')
  const finishes: Finish[] = endsOf(weeks)
    .filter(isSeen)
    .map((at) => finishAt(at, draw() < unanswered(at) ? 'unanswered' : 'ended'))
  const evaluations: History['evaluations'][number][] = []
  for (let now = weeks.from + INTERVAL, previousSuccess: number | undefined; now <= weeks.to; now += INTERVAL) {
    if (!isSeen(now)) continue
    evaluations.push({ kind: 'poll', at: now, now, previousSuccess, limited: false })
    previousSuccess = now
  }
  return { evaluations, finishes, sync: { created: weeks.from }, gaps }
}

export function shippedRule(name: string): Rule {
  return shippedRules().find((rule) => rule.name === name)!
}

/** The shipped rule, or one that differs from it. */
export function fewerCalls(differing: { timezone?: string } = {}): Rule {
  const rule = shippedRule('FewerCalls')
  return { ...rule, signal: { ...rule.signal, ...differing } }
}

/** When rules fire and end in a history. */
export function firedIn(history: History, rules: readonly Rule[] = [fewerCalls()]): Notification[] {
  return replay(history, { target: 'production', rules, interval: INTERVAL }).notifications
}
