import { beforeAll, describe, expect, test } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { ruleFileOf } from '../../src/commands/alerts/prometheus-rules.ts'
import { compareAlerts } from './compare-alerts.ts'
import { CLOSED, moment } from './episodes.ts'
import { evaluateWithPromtool, type FiringAlerts } from './evaluate-with-promtool.ts'
import { evaluationsBy, parityReport } from './parity-report.ts'
import { shippedRules } from '../alerts/sample-rules.ts'
import { skipWithoutPromtool } from '../prometheus/promtool.ts'
import { INTERVAL, pollHistory, type Scrape } from './polled-history.ts'
import { withGap, withoutGap } from './without-gap.ts'

const SEED = 1
/** promtool runs some ten thousand evaluations, perhaps on a busy machine (milliseconds). */
const LONG = 300_000

/** Those on what the ledger has. The history has no requests. */
const rules = shippedRules().filter(({ signal }) => signal.name !== 'request_errors')
let scrapes: Scrape[] = []

beforeAll(async () => {
  const metrics = ruleFileOf(rules, INTERVAL).matchAll(/callwatch_\w+/g)
  scrapes = await pollHistory(SEED, rules, new Set([...metrics].map(([name]) => name)))
}, LONG)

describe('callwatch and Prometheus on the same history', () => {
  test(
    'fire the same alerts, except for the differences in differences.txt with their causes',
    { timeout: LONG },
    async (context) => {
      skipWithoutPromtool(context)
      const comparisons = compareAlerts(rules, scrapes, await evaluateShipped(), INTERVAL)
      await expect(parityReport(comparisons)).toMatchFileSnapshot('differences.txt')
      expect(evaluationsBy('UNEXPLAINED', comparisons)).toBe(0)
      // The history must make each alert fire.
      expect(comparisons.filter(({ bothFiring }) => bothFiring < 10)).toEqual([])
    },
  )

  test('have an unexplained difference if an alert fires one evaluation late', () => {
    const late = scrapes.map((_, i) => scrapes[Math.max(0, i - 1)]!.firing)
    const comparisons = compareAlerts(rules, scrapes, late, INTERVAL)
    expect(comparisons.filter((each) => evaluationsBy('UNEXPLAINED', [each]) === 0)).toEqual([])
  })

  const wrong: Record<string, Partial<Rule>> = {
    HighFailureRate: { threshold: 0.33 },
    VeryHighFailureRate: { clear: 0.5 },
    StuckCalls: { signal: { name: 'stuck_calls', longerThan: 11_400 } },
    NoGoodPoll: { threshold: 420 },
  }
  test('have an unexplained difference if a rule differs slightly', { timeout: LONG }, async (context) => {
    skipWithoutPromtool(context)
    const day = scrapes.filter(({ at }) => at < moment(0, '18:00'))
    const tested = rules.filter(({ name }) => wrong[name] !== undefined)
    const broken = tested.map((rule) => ({ ...rule, ...wrong[rule.name] }))
    const firing = await evaluateWithPromtool(ruleFileOf(broken, INTERVAL), day, INTERVAL)
    const comparisons = compareAlerts(tested, day, firing, INTERVAL)
    expect(comparisons.filter((each) => evaluationsBy('UNEXPLAINED', [each]) === 0)).toEqual([])
  })
})

describe('alerts in Prometheus of a target that is no longer exported', () => {
  const left = moment(0, '11:10')
  const later = moment(0, '12:00')
  // A call is stuck by then.
  test.for([
    { what: 'continue to fire while callwatch is down', isKept: () => false, expected: ['NoGoodPoll', 'StuckCalls'] },
    { what: 'resolve if the target was removed', isKept: isAboutCallwatch, expected: [] },
  ])('$what', { timeout: LONG }, async ({ isKept, expected }, context) => {
    skipWithoutPromtool(context)
    const before = scrapes.filter(({ at }) => at < later)
    const absent = before.map((scrape) => {
      const kept = [...scrape.series].filter(([name]) => scrape.at < left || isKept(name))
      return { ...scrape, series: new Map(kept) }
    })
    const tested = rules.filter(({ signal }) => signal.name === 'stuck_calls' || signal.name === 'poll_age')
    const firing = await evaluateWithPromtool(ruleFileOf(tested, INTERVAL), absent, INTERVAL)
    expect([...firing[left / INTERVAL - 1]!]).toEqual(['StuckCalls'])
    expect(new Set(firing.at(-1))).toEqual(new Set(expected))
    // No other alert fired in between.
    const fired = firing.slice(left / INTERVAL).flatMap((alerts) => [...alerts])
    expect(new Set(fired)).toEqual(new Set(['StuckCalls', ...expected]))
  })
})

function isAboutCallwatch(series: string): boolean {
  return series.startsWith('callwatch_targets')
}

/** Only rules that compare with a week earlier need the whole history. */
async function evaluateShipped(): Promise<FiringAlerts> {
  const looksFarBack = ({ onlyIf }: Rule) => onlyIf !== undefined
  const fileOf = (some: readonly Rule[]) => ruleFileOf(some, INTERVAL)
  const [far, near] = await Promise.all([
    evaluateWithPromtool(fileOf(rules.filter(looksFarBack)), scrapes, INTERVAL),
    evaluateWithPromtool(fileOf(rules.filter((rule) => !looksFarBack(rule))), withoutGap(scrapes, CLOSED), INTERVAL),
  ])
  const nearWhole = withGap(near, scrapes, CLOSED, new Set<string>())
  return far.map((alerts, i) => alerts.union(nearWhole[i]!))
}
