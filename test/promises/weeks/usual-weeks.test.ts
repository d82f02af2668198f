import { expect, test } from 'vitest'
import { DAY, firedIn, historyOf, HOUR, shippedRule, WEEK } from './simulated-weeks.ts'

/** A Monday. */
const START = Date.parse('2026-08-31T00:00:00Z') / 1000
const RULES = ['HighFailureRate', 'VeryHighFailureRate'].map(shippedRule)

type App = { seed: number; usually: number; inBurst: number; known: number }

/** A week of calls that callwatch sees, after so many days of which it knows the calls, with an hour in which many are not answered. */
function weekOf({ seed, usually, inBurst, known }: App, burst: number) {
  const unanswered = (at: number) => (at >= burst && at < burst + HOUR ? inBurst : usually)
  const from = START - known
  const history = historyOf({ seed, rate: 200, from, to: START + WEEK, unanswered })
  return { ...history, evaluations: history.evaluations.filter(({ at }) => at > START) }
}

test.each([
  ['usually leaves 45% unanswered', { usually: 0.45, inBurst: 0.9, known: DAY }],
  ['usually leaves 5% unanswered', { usually: 0.05, inBurst: 0.7, known: DAY }],
  ['is new and leaves 10% unanswered', { usually: 0.1, inBurst: 0.8, known: 0 }],
])('an app that %s has alerts in a burst, and never else in a week', (_app, app) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const burst = START + (seed - 1) * DAY + 11 * HOUR
    const fired = firedIn(weekOf({ seed, ...app }, burst), RULES)
    const of = (name: string) => fired.filter(({ alert }) => alert === name).map(({ kind }) => kind)
    expect(of('HighFailureRate'), `seed ${seed}`).toEqual(['firing', 'resolved'])
    expect(of('VeryHighFailureRate'), `seed ${seed}`).toEqual(['firing', 'resolved'])
    for (const { kind, at } of fired) {
      const minutes = (at - burst) / 60
      expect(minutes, `seed ${seed}: ${kind}`).toBeGreaterThan(kind === 'firing' ? 0 : 60)
      expect(minutes, `seed ${seed}: ${kind}`).toBeLessThan(kind === 'firing' ? 30 : 120)
    }
  }
})
