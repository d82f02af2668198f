import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, test, type TestContext } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { ruleFileOf } from '../../src/commands/prometheus-rules.ts'
import { compareVerdicts } from './compare-verdicts.ts'
import { CLOSED, moment } from './episodes.ts'
import { judgeWithPromtool, type Verdicts } from './judge-with-promtool.ts'
import { evaluationsBy, parityReport } from './parity-report.ts'
import { shippedRules } from './shipped-rules.ts'
import { INTERVAL, watchHistory, type Scrape } from './watched-history.ts'
import { withGap, withoutGap } from './without-gap.ts'

const SEED = 1
/** promtool evaluates some ten thousand times, on a machine that may be busy (milliseconds). */
const LONG = 300_000

const missing = spawnSync('promtool', ['--version']).error !== undefined
const rules = shippedRules()
let scrapes: Scrape[] = []

beforeAll(async () => {
  const metrics = ruleFileOf(rules, INTERVAL).matchAll(/callwatch_\w+/g)
  scrapes = await watchHistory(SEED, rules, new Set([...metrics].map(([name]) => name)))
}, LONG)

describe('callwatch and Prometheus judge the same history', () => {
  test('alike, but for differences that are listed with their causes', { timeout: LONG }, async (context) => {
    skipWithoutPromtool(context)
    const comparisons = compareVerdicts(rules, scrapes, await judgeShipped(), INTERVAL)
    await expect(parityReport(comparisons)).toMatchFileSnapshot('differences.txt')
    expect(evaluationsBy('UNEXPLAINED', comparisons)).toBe(0)
    // The history would prove nothing of an alert that is never told of.
    expect(comparisons.filter(({ bothFiring }) => bothFiring < 10)).toEqual([])
  })

  test('and a verdict that comes one evaluation late for no reason is found out', () => {
    const late = scrapes.map((_, i) => scrapes[Math.max(0, i - 1)]!.firing)
    const comparisons = compareVerdicts(rules, scrapes, late, INTERVAL)
    expect(comparisons.filter((each) => evaluationsBy('UNEXPLAINED', [each]) === 0)).toEqual([])
  })

  const wrong: Record<string, Partial<Rule>> = {
    HighFailureRate: { threshold: 0.33 },
    VeryHighFailureRate: { clear: 0.5 },
    StuckCalls: { signal: { name: 'stuck_calls', longerThan: 11_400 } },
    NoGoodPoll: { threshold: 420 },
  }
  test('and a rule that says something slightly different is found out', { timeout: LONG }, async (context) => {
    skipWithoutPromtool(context)
    const day = scrapes.filter(({ at }) => at < moment(0, '18:00'))
    const tested = rules.filter(({ name }) => wrong[name] !== undefined)
    const broken = tested.map((rule) => ({ ...rule, ...wrong[rule.name] }))
    const verdicts = await judgeWithPromtool(ruleFileOf(broken, INTERVAL), day, INTERVAL)
    const comparisons = compareVerdicts(tested, day, verdicts, INTERVAL)
    expect(comparisons.filter((each) => evaluationsBy('UNEXPLAINED', [each]) === 0)).toEqual([])
  })
})

describe('what fires in Prometheus when a target is told of no more', () => {
  const left = moment(0, '11:10')
  const later = moment(0, '12:00')
  // A call is stuck by then.
  test.for([
    { what: 'goes on while callwatch is not there', isKept: () => false, firing: ['NoGoodPoll', 'StuckCalls'] },
    { what: 'is over where callwatch is there: the target was removed', isKept: isAboutCallwatch, firing: [] },
  ])('$what', { timeout: LONG }, async ({ isKept, firing }, context) => {
    skipWithoutPromtool(context)
    const told = scrapes.filter(({ at }) => at < later)
    const untold = told.map((scrape) => {
      const kept = [...scrape.series].filter(([name]) => scrape.at < left || isKept(name))
      return { ...scrape, series: new Map(kept) }
    })
    const tested = rules.filter(({ signal }) => signal.name === 'stuck_calls' || signal.name === 'poll_age')
    const verdicts = await judgeWithPromtool(ruleFileOf(tested, INTERVAL), untold, INTERVAL)
    expect([...verdicts[left / INTERVAL - 1]!]).toEqual(['StuckCalls'])
    expect(new Set(verdicts.at(-1))).toEqual(new Set(firing))
    // Nor did anything else fire in between.
    const fired = verdicts.slice(left / INTERVAL).flatMap((alerts) => [...alerts])
    expect(new Set(fired)).toEqual(new Set(['StuckCalls', ...firing]))
  })
})

function isAboutCallwatch(series: string): boolean {
  return series.startsWith('callwatch_targets')
}

/** Only what compares with a week before needs the whole history. */
async function judgeShipped(): Promise<Verdicts> {
  const looksFarBack = ({ onlyIf }: Rule) => onlyIf !== undefined
  const fileOf = (some: readonly Rule[]) => ruleFileOf(some, INTERVAL)
  const [far, near] = await Promise.all([
    judgeWithPromtool(fileOf(rules.filter(looksFarBack)), scrapes, INTERVAL),
    judgeWithPromtool(fileOf(rules.filter((rule) => !looksFarBack(rule))), withoutGap(scrapes, CLOSED), INTERVAL),
  ])
  const nearWhole = withGap(near, scrapes, CLOSED, new Set<string>())
  return far.map((alerts, i) => alerts.union(nearWhole[i]!))
}

function skipWithoutPromtool({ skip }: TestContext): void {
  if (missing && process.env['CI'] !== 'true') skip('promtool is not on the PATH: apt-get install prometheus')
}
