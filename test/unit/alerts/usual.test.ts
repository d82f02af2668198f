import { describe, expect, test } from 'vitest'
import { alertOf, subjectOf } from '../../../src/alerts/alert.ts'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { replay } from '../../../src/alerts/replay.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { ruleValues } from '../../../src/alerts/rule-value.ts'
import { usualPeriod } from '../../../src/alerts/usual.ts'
import { summedWith, type SummedCalls } from '../../../src/ledger/summed-calls.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import { incidentLines } from '../../../src/alerts/text/incident-text.ts'
import { ruleText, summaryOf } from '../../../src/alerts/text/alert-text.ts'
import { finishAt, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { evaluatedTarget, finishedAt, pollAt, START, type PartOfPoll } from './evaluated-target.ts'

const HOUR = 3600
const signal = { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20, aboveUsual: 0.15 } as const
const RULE = ruleOn(signal, { threshold: 0.3, clear: 0.2 })
const PERIOD = usualPeriod(RULE, { now: START, previousSuccess: START - 15 })!

/** So many of so many calls failed in the seven days before the window. */
const usually = (failed: number, calls: number, differing: Partial<Finish> = {}): SummedCalls[] => {
  const all = Array.from({ length: calls }, (_, i) =>
    finishAt(PERIOD.to - HOUR, i < failed ? 'unanswered' : 'ended', differing),
  )
  return [summedWith({ ...PERIOD, tallies: [] }, all)]
}

const pollOf = (failed: number, calls: number, usual: SummedCalls[], differing: PartOfPoll = {}) => {
  const finished = finishedAt(START, { rejected: failed, ended: calls - failed })
  return pollAt(START, { finished, usual, previousSuccess: START - 15, ...differing })
}
const isBreached = (failed: number, calls: number, usual: SummedCalls[], rule: Rule = RULE) => {
  const target = evaluatedTarget([rule])
  target.evaluate(pollOf(failed, calls, usual), START)
  return target.state() !== 'inactive'
}

describe('a rule with `above_usual`', () => {
  test.each([
    ['45% are usual', 45, 100, 60, false],
    ['45% are usual', 45, 100, 61, true],
    ['5% are usual, so that its own threshold is higher', 5, 100, 30, false],
    ['5% are usual, so that its own threshold is higher', 5, 100, 31, true],
    ['too few calls say what is usual', 45, 99, 31, true],
    ['nothing is known of before', 0, 0, 31, true],
  ])('where %s, %i of %i calls, fires at %i of 100: %s', (_where, failed, calls, now, fires) => {
    expect(isBreached(now, 100, usually(failed, calls))).toBe(fires)
  })

  test('clears as much above the usual, and compares with the latest usual share', () => {
    const target = evaluatedTarget([RULE])
    const state = (failed: number, usual: SummedCalls[]) => {
      target.evaluate(pollOf(failed, 100, usual), START)
      return target.state()
    }
    expect(state(70, usually(45, 100))).toBe('firing')
    expect(state(51, usually(45, 100))).toBe('firing')
    expect(alertOf({ target: 'a', instance: target.instances.get(RULE.name)! })).toMatchObject({
      threshold: 0.6,
      clear: 0.5,
      usual: 0.45,
    })
    expect(state(51, usually(47, 100))).toBe('inactive')
    expect(target.notifications.at(-1)).toMatchObject({
      kind: 'resolved',
      threshold: 0.52,
      episode: { threshold: 0.6 },
    })
  })

  test('has the usual share of its own calls, by its reason and its groups', () => {
    const video = { labels: labelsOf('video', 'call', 'user') }
    const usual = [{ ...PERIOD, tallies: [...usually(45, 100)[0]!.tallies, ...usually(90, 100, video)[0]!.tallies] }]
    const values = (rule: Rule) => [...ruleValues(rule, pollOf(0, 1, usual), [])!.values()].map((one) => one.usual)
    expect(values({ ...RULE, by: ['type'] })).toEqual([0.45, 0.9])
    expect(values({ ...RULE, match: { type: 'video' } })).toEqual([0.9])
    expect(values({ ...RULE, signal: { ...signal, reason: 'rejected' } })).toEqual([0])
  })

  test('with `confidence`, must be sure to be above the usual', () => {
    const sure = { ...RULE, signal: { ...signal, confidence: 0.95 } }
    expect([61, 69].map((failed) => isBreached(failed, 100, usually(45, 100), sure))).toEqual([false, true])
  })

  test('takes the seven days until the last whole hour before its window, which may be long', () => {
    const end = (now: number, previousSuccess: number) => usualPeriod(RULE, { now, previousSuccess })
    const hour = Math.floor(START / HOUR) * HOUR
    const week = (to: number) => ({ from: to - 7 * 24 * HOUR, to })
    expect(end(hour + 900, hour + 885)).toEqual(week(hour))
    expect(end(hour + 899, hour + 884)).toEqual(week(hour - HOUR))
    expect(end(hour + 5 * HOUR, hour + 2 * HOUR + 1)).toEqual(week(hour + 2 * HOUR))
    expect(usualPeriod(RATIO, { now: hour, previousSuccess: hour })).toBeUndefined()
  })

  test('is replayed with what was known at each time, also of calls that were noticed late', () => {
    const { to } = PERIOD
    const known = (at: number, knownHostTime: number, failed: number, calls: number) =>
      Array.from({ length: calls }, (_, i) => finishAt(at, i < failed ? 'unanswered' : 'ended', { knownHostTime }))
    const finishes = [
      // The end does not belong to it, the beginning does.
      ...known(to, to, 50, 50),
      ...known(to - 1, to, 10, 60),
      ...known(to - 7 * 24 * HOUR, to, 30, 40),
      ...known(to - 7 * 24 * HOUR - 1, to, 50, 50),
      ...known(to - 2, START + 20, 60, 100),
      ...known(START - 60, START, 56, 100),
    ]
    const evaluations = [0, 15, 30].map((seconds) => {
      const now = START + seconds
      return { kind: 'poll' as const, at: now, now, previousSuccess: now - 15, limited: false }
    })
    const history = { evaluations, finishes, sync: { created: 0 }, gaps: [] }
    const { notifications } = replay(history, { target: 'production', rules: [RULE], interval: 15 })
    expect(notifications.map(({ kind, at, usual }) => [kind, at, usual])).toEqual([['firing', START, 0.4]])
    const late = { ...RULE, clear: 0.29 }
    expect(
      replay(history, { target: 'production', rules: [late], interval: 15 }).notifications.map(
        ({ kind, at, usual }) => [kind, at, usual],
      ),
    ).toEqual([
      ['firing', START, 0.4],
      ['resolved', START + 30, 0.5],
    ])
  })

  test('says what is usual, in words', () => {
    const said = (usual: SummedCalls[], failed: number) => {
      const target = evaluatedTarget([RULE])
      target.evaluate(pollOf(failed, 100, usual), START)
      const [firing] = target.notifications
      return [summaryOf(firing!), ruleText(firing!)]
    }
    expect(said(usually(44, 100), 70)).toEqual([
      '70 of 100 calls that finished in the last 15m failed: 70%, above the threshold of 59%',
      'more than 59% of the calls in the last 15m failed, 15 points above the usual 44% (at least 20 calls)',
    ])
    expect(said(usually(5, 100), 70)[1]).toBe('more than 30% of the calls in the last 15m failed (at least 20 calls)')
    const unknown =
      'more than 30% of the calls in the last 15m failed, and 15 points more than usual (at least 20 calls)'
    expect(said([], 70)[1]).toBe(unknown)
    expect(ruleText({ ...RULE, alert: RULE.name })).toBe(unknown)
  })

  test('says of several targets what holds for all of them', () => {
    const lives = [44, 50].map((usual, i) => {
      const target = evaluatedTarget([RULE])
      target.evaluate(pollOf(70, 100, usually(usual, 100)), START)
      return { target: `t${i}`, instance: target.instances.get(RULE.name)! }
    })
    const linesOf = (all: typeof lives) =>
      incidentsOf(all, () => ({ key: '', labels: {} }), 3, START - 60).flatMap((one) =>
        incidentLines(one).flatMap(({ about, text }) => (about === 'rule' ? text : [])),
      )
    const [own] = linesOf(lives.slice(0, 1))
    expect(own).toMatch(/more than 59% of the calls in the last 15m failed, 15 points above the usual 44% /)
    expect(linesOf(lives)).toEqual([
      'Rule: HighFailureRate, more than 59% of the calls in the last 15m failed, and 15 points more than usual (at least 20 calls)',
    ])
  })

  test('measures what a rule does that differs from it in thresholds only', () => {
    const subject = (aboveUsual: number) =>
      subjectOf({ labels: {}, match: {}, breach: 'above', signal: { ...signal, aboveUsual } })
    expect(subject(0.15)).toBe(subject(0.3))
  })
})
