import { spawnSync } from 'node:child_process'
import { describe, expect, test, type TestContext } from 'vitest'
import { prometheusRule } from '../../src/alerts/prometheus-rule.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { ruleFileOf } from '../../src/commands/prometheus-rules.ts'
import { POLL_AGE, RATIO, ruleOn } from '../alerts/sample-rules.ts'
import { callwatch, configFile } from './callwatch.ts'

const INTERVAL = 15
const window = 900
const STUCK = ruleOn({ name: 'stuck_calls', longerThan: 10_800 }, { name: 'Stuck', threshold: 0, clear: 0 })
const FINISHED = 'sum by (target) (increase(callwatch_calls_total[15m]))'
const FAILED = 'sum by (target) (increase(callwatch_calls_total{status=~"unanswered|rejected|canceled"}[15m]))'
const FIRING = 'on (target) max by (target) (ALERTS{alertname="HighFailureRate", alertstate="firing"})'

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
const LAST_POLLED =
  `max by (target) (last_over_time(${POLLED}[2m]) ` +
  `or last_over_time(${POLLED}[1d]) unless on (job) callwatch_build_info)`

const missing = spawnSync('promtool', ['--version']).error !== undefined

describe('what a rule says in PromQL', () => {
  const supported: [what: string, rule: Rule, parts: string[]][] = [
    [
      'failure_ratio: past the threshold with enough calls, or firing and past clear, or firing for a window with too few',
      RATIO,
      [
        `(${FAILED} / ${FINISHED} > 0.3 and ${FINISHED} >= 20)`,
        `(${FAILED} / ${FINISHED} > 0.2 and ${FINISHED} >= 20 and ${FIRING})`,
        `(${FAILED} / ${FINISHED} and ${FINISHED} < 20 and max_over_time((${FINISHED} >= bool 20)[15m:]) > 0 and ${FIRING})`,
      ],
    ],
    [
      'failure_ratio: the window without enough calls ends with keep_firing_for',
      { ...RATIO, keepFiringFor: 300 },
      [`max_over_time((${FINISHED} >= bool 20)[10m:])`],
    ],
    [
      'failure_ratio of one reason, of some calls, by a label',
      ruleOn(
        { name: 'failure_ratio', reason: 'unanswered', window, minCalls: 20 },
        { match: { mode: 'call' }, by: ['type'] },
      ),
      [
        'sum by (target, type) (increase(callwatch_calls_total{mode="call", status="unanswered"}[15m]))',
        '/ sum by (target, type) (increase(callwatch_calls_total{mode="call"}[15m])) > 0.3',
        'on (target, type) max by (target, type) (ALERTS',
      ],
    ],
    ['calls', ruleOn({ name: 'calls', window }, { threshold: 1, clear: 1, breach: 'below' }), [`(${FINISHED} < 1)`]],
    [
      'calls, if there were some a week before',
      ruleOn(
        { name: 'calls', window },
        { threshold: 1, clear: 1, breach: 'below', onlyIf: { offset: 604_800, atLeast: 5 } },
      ),
      [
        `(${FINISHED} < 1 and sum by (target) (increase(callwatch_calls_total[15m] offset 7d)) >= 5)`,
        `(${FINISHED} < 1 and ${FIRING})`,
      ],
    ],
    [
      'calls_started',
      ruleOn({ name: 'calls_started', window }, { threshold: 500, clear: 400 }),
      [
        '(sum by (target) (increase(callwatch_calls_started_total[15m])) > 500)',
        `(sum by (target) (increase(callwatch_calls_started_total[15m])) > 400 and ${FIRING})`,
      ],
    ],
    [
      'in_progress',
      ruleOn({ name: 'in_progress' }, { threshold: 50, match: { type: 'video' } }),
      ['(sum by (target) (callwatch_calls_in_progress{type="video"}) > 50)'],
    ],
    ['stuck_calls', STUCK, ['(time() - min by (target) (callwatch_oldest_open_call_timestamp_seconds) > 10800)']],
    [
      'poll_age, also of a target that was never polled with success',
      POLL_AGE,
      [
        `(time() - ${LAST_POLLED} > 300)`,
        `or (0 * sum by (target) (callwatch_polls_total offset 5m) + 300 unless on (target) last_over_time(${POLLED}[1d]))`,
      ],
    ],
  ]

  test.each(supported)('%s', (_what, rule, parts) => {
    const { expr } = prometheusRule(rule, INTERVAL)
    for (const part of parts) expect(expr).toContain(part)
  })

  test('what fires goes on, without a value, while the target is not polled or callwatch is not there', () => {
    const fires = (name: string) => `NaN * max by (target) (ALERTS{alertname="${name}", alertstate="firing"})`
    const age = `time() - ${LAST_POLLED}`
    const { expr } = prometheusRule(RATIO, INTERVAL)
    expect(expr).toContain(`\nand on (target) (${age} <= 60)\n`)
    expect(expr).toContain(`\nor (${fires('HighFailureRate')} and on (target) (${age} > 60))`)
    // A gauge vanishes with the scrape, a window of counters does not.
    const now = `time() - max by (target) (${POLLED}) <= 60`
    const stuck = prometheusRule(STUCK, INTERVAL).expr
    expect(stuck).toContain(`\nand on (target) (${now})\n`)
    expect(stuck).toContain(`\nor (${fires('Stuck')} and on (target) (${LAST_POLLED} unless on (target) (${now})))`)
  })

  test('a threshold and a value read as they do in a message', () => {
    const description = '{value} of {calls} calls in {window}, more than {threshold}'
    const annotationOf = (rule: Rule) => prometheusRule({ ...rule, description }, INTERVAL).annotations['description']
    expect(annotationOf({ ...RATIO, threshold: 0.29 })).toBe(
      '{{ $value | humanizePercentage }} of calls in 15m, more than 29 %',
    )
    expect(annotationOf(POLL_AGE)).toContain('more than 5m')
  })

  test('promtool finds nothing wrong, however a rule is named', (context) => {
    skipWithoutPromtool(context)
    const rules = supported.map(([what, rule], i) => ({ ...rule, name: `${i}: "${what}" \\` }))
    expect(checkedByPromtool(ruleFileOf(rules, INTERVAL))).toContain(`SUCCESS: ${rules.length} rules found`)
  })
})

describe('a rule that PromQL cannot say is named in a comment, with the reason', () => {
  const notJudgedAlike = (signal: string) => `${signal} is not to be had from callwatch's counters as it is judged`
  const noLabels = 'callwatch_oldest_open_call_timestamp_seconds has no labels of calls'
  const unsupported: [what: string, rule: Rule, reason: string][] = [
    [
      'failure_ratio with confidence',
      ruleOn({ name: 'failure_ratio', reason: 'any', window, minCalls: 20, confidence: 0.95 }),
      'PromQL has no confidence of a ratio',
    ],
    ['minutes', ruleOn({ name: 'minutes', window, media: 'both' }), notJudgedAlike('minutes')],
    [
      'answer_delay_p95',
      ruleOn({ name: 'answer_delay_p95', window, minCalls: 20 }),
      notJudgedAlike('answer_delay_p95'),
    ],
    ['duration_mean', ruleOn({ name: 'duration_mean', window, minCalls: 20 }), notJudgedAlike('duration_mean')],
    [
      'budget_minutes',
      ruleOn({ name: 'budget_minutes', limit: 1000, timezone: 'UTC' }),
      notJudgedAlike('budget_minutes'),
    ],
    ['stuck_calls by a label', { ...STUCK, by: ['type'] }, noLabels],
    ['stuck_calls of some calls', { ...STUCK, match: { mode: 'call' } }, noLabels],
    [
      'more than two stuck_calls',
      { ...STUCK, threshold: 2 },
      'callwatch_oldest_open_call_timestamp_seconds tells of one call only',
    ],
  ]

  test.each(unsupported)('%s', (_what, rule, reason) => {
    const file = ruleFileOf([{ ...rule, name: 'Untold' }, POLL_AGE], INTERVAL)
    expect(file).toContain(`\n# Untold has no counterpart here: ${reason}\n`)
    expect(file).not.toContain('alert: Untold')
    expect(file).toContain('alert: NoGoodPoll')
  })
})

describe('callwatch prometheus-rules', () => {
  const env = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' }

  test('prints the shipped rules as they lie in config/prometheus, and promtool finds nothing wrong', async (context) => {
    const { code, stdout, stderr } = await callwatch(['prometheus-rules'], { env })
    expect([code, stderr]).toEqual([0, ''])
    await expect(stdout).toMatchFileSnapshot('../../config/prometheus/callwatch-alerts.yaml')
    skipWithoutPromtool(context)
    expect(checkedByPromtool(stdout)).toMatch(/SUCCESS: \d+ rules found/)
  })

  test('prints the rules of the file, for its interval', async () => {
    const config = configFile(`
targets: [{ name: production, app_id: a1, region: us, api_key: k }]
poll: { interval: 1m }
alerts:
  - { name: Busy, signal: in_progress, above: 50, for: 90s, keep_firing_for: 1h, severity: info }
  - { name: Slow, signal: answer_delay_p95, window: 1h, min_calls: 10, above: 30s, severity: info }
`)
    const { code, stdout } = await callwatch(['prometheus-rules', '--config', config])
    expect(code).toBe(0)
    expect(stdout).toContain('\n# Slow has no counterpart here: ')
    expect(stdout).toContain('<= 240)')
    expect(stdout).toContain(
      '        for: 90s\n        keep_firing_for: 1h\n        labels:\n          severity: info\n',
    )
  })
})

function skipWithoutPromtool({ skip }: TestContext): void {
  if (missing && process.env['CI'] !== 'true') skip('promtool is not on the PATH: apt-get install prometheus')
}

function checkedByPromtool(file: string): string {
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'rules', configFile(file)], { encoding: 'utf8' })
  return error?.message ?? `${stdout}${stderr}`
}
