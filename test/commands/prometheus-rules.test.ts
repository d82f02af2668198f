import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { describe, expect, test, type TestContext } from 'vitest'
import { parse } from 'yaml'
import { prometheusRule } from '../../src/alerts/prometheus-rule.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { runbookPages } from '../../src/web/runbook-pages.ts'
import { ruleFileOf } from '../../src/commands/alerts/prometheus-rules.ts'
import { POLL_AGE, RATIO, ruleOn } from '../alerts/sample-rules.ts'
import { callwatch, configFile } from './callwatch.ts'

const INTERVAL = 15
const window = 900
const STUCK = ruleOn({ name: 'stuck_calls', longerThan: 10_800 }, { name: 'Stuck', threshold: 0, clear: 0 })
const counted = (of: string) => `alerts:callwatch_calls_total:max{of="${of}"}`
const increase = (of: string) => `sum by (target) (increase(${counted(of)}[15m]))`
const FINISHED = increase('all')
const FAILED = increase('failed')
const FIRING = 'on (target) max by (target) (ALERTS{alertname="CallwatchHighFailureRate", alertstate="firing"})'

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
const LAST_POLLED = `alerts:${POLLED}:max`

const missing = spawnSync('promtool', ['--version']).error !== undefined

/** The alerts about callwatch itself, which are always there. */
const OF_CALLWATCH = [
  'CallwatchUnownedTargets',
  'CallwatchWebhookBehind',
  'CallwatchWebhookDeadLetters',
  'CallwatchWebhookEventsExpired',
  'CallwatchServiceWebhooksMissed',
]

describe('a rule in PromQL', () => {
  const supported: [what: string, rule: Rule, parts: string[]][] = [
    [
      'failure_ratio: beyond the threshold with enough calls, or firing and not cleared, or firing for a window with too few',
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
        `sum by (target, type) (increase(${counted('mode=call, unanswered, by type')}[15m]))`,
        `/ sum by (target, type) (increase(${counted('mode=call, by type')}[15m])) > 0.3`,
        'on (target, type) max by (target, type) (ALERTS',
      ],
    ],
    [
      'failure_ratio, if there were some calls a week before',
      { ...RATIO, by: ['type'], match: { mode: 'call' }, onlyIf: { offset: 604_800, atLeast: 5 } },
      [
        `{of="mode=call, by type"}[15m])) >= 20 and sum by (target, type) (increase(${counted('mode=call, by type')}[15m] offset 7d)) >= 5)\n`,
        `> 0.2 and sum by (target, type) (increase(${counted('mode=call, by type')}[15m])) >= 20 and sum by (target, type) (increase(${counted('mode=call, by type')}[15m] offset 7d)) >= 5 and on (target, type) max`,
      ],
    ],
    [
      'failure_ratio, if there were some calls before: what fires goes on for a window without them',
      { ...RATIO, clear: 0.3, onlyIf: { offset: 3600, atLeast: 5 } },
      [
        `or (${FAILED} / ${FINISHED} > 0.3 and sum by (target) (increase(${counted('all')}[15m] offset 1h)) < 5 and max_over_time(((${FINISHED} >= bool 20) * (sum by (target) (increase(${counted('all')}[15m] offset 1h)) >= bool 5))[15m:]) > 0 and ${FIRING})`,
      ],
    ],
    [
      'calls: too few of them only where they were recorded for the whole window',
      ruleOn({ name: 'calls_finished', window }, { threshold: 1, clear: 1, breach: 'below' }),
      [`(${FINISHED} < 1 and sum by (target) (${counted('all')} offset 15m))`, `(${FINISHED} < 1 and ${FIRING})`],
    ],
    [
      'calls, if there were some a week before',
      ruleOn(
        { name: 'calls_finished', window },
        { threshold: 1, clear: 1, breach: 'below', onlyIf: { offset: 604_800, atLeast: 5 } },
      ),
      [
        `(${FINISHED} < 1 and sum by (target) (increase(${counted('all')}[15m] offset 7d)) >= 5)`,
        `max_over_time((sum by (target) (increase(${counted('all')}[15m] offset 7d)) >= bool 5)[15m:]) > 0 and ${FIRING})`,
      ],
    ],
    [
      'calls_started',
      ruleOn({ name: 'calls_started', window }, { threshold: 500, clear: 400 }),
      [
        '(sum by (target) (increase(alerts:callwatch_calls_started_total:max{of="all"}[15m])) > 500)',
        `(sum by (target) (increase(alerts:callwatch_calls_started_total:max{of="all"}[15m])) > 400 and ${FIRING})`,
      ],
    ],
    [
      'in_progress',
      ruleOn({ name: 'in_progress' }, { threshold: 50, match: { type: 'video' } }),
      [
        '(sum by (target) (max by (target, type, mode, receiver_type, status) (callwatch_calls_in_progress{type="video"})) > 50)',
      ],
    ],
    ['stuck_calls', STUCK, ['(time() - min by (target) (callwatch_oldest_open_call_timestamp_seconds) > 10800)']],
    [
      'stuck_calls of some calls, by a label',
      { ...STUCK, match: { mode: 'call' }, by: ['type'] },
      ['(time() - min by (target, type) (callwatch_oldest_open_call_timestamp_seconds{mode="call"}) > 10800)'],
    ],
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

  test('records each count once for all rules that use it: of several daemons the largest sum', () => {
    const rules = [{ ...RATIO, match: { mode: 'call' }, by: ['type' as const] }, RATIO, { ...RATIO, name: 'Again' }]
    const { groups } = parse(ruleFileOf(rules, INTERVAL))
    const recorded = groups[0].rules.flatMap(({ record, ...rule }: { record?: string }) =>
      record === 'alerts:callwatch_calls_total:max' ? [rule] : [],
    )
    const failed = 'status=~"unanswered|rejected|canceled"'
    const byType = (selector: string) =>
      `max by (target, type) (sum without (mode, receiver_type, status) (callwatch_calls_total{${selector}}))`
    const all = (selector: string) =>
      `max by (target) (sum without (type, mode, receiver_type, status) (callwatch_calls_total${selector}))`
    expect(recorded).toEqual([
      { expr: byType('mode="call"'), labels: { of: 'mode=call, by type' } },
      { expr: byType(`mode="call", ${failed}`), labels: { of: 'mode=call, failed, by type' } },
      { expr: all(''), labels: { of: 'all' } },
      { expr: all(`{${failed}}`), labels: { of: 'failed' } },
    ])
  })

  test('waits longer for unowned targets with longer leases', () => {
    const unowned = (lease?: number) =>
      parse(ruleFileOf([], INTERVAL, lease)).groups[0].rules.find(
        ({ alert }: { alert: string }) => alert === 'CallwatchUnownedTargets',
      )
    expect([unowned(), unowned(10), unowned(300)].map((rule) => rule.for)).toEqual(['2m', '2m', '10m'])
  })

  test('keeps firing, without a value, while the target is not polled or callwatch is down', () => {
    const fires = (name: string) => `NaN * max by (target) (ALERTS{alertname="Callwatch${name}", alertstate="firing"})`
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

  const CALLS = '{{ printf "%.0f" $value }} {{ if eq (printf "%.0f" $value) "1" }}call{{ else }}calls{{ end }}'
  const asked = (selector: string, labels: string) =>
    `{{ with query (printf \`sum(increase(alerts:callwatch_calls_total:max{${selector}}[15m]))\` ${labels}) }}` +
    '{{ printf "%.0f" (. | first | value) }}{{ else }}n/a{{ end }}'
  test.each<[placeholder: string, rule: Rule, filled: string]>([
    ['{value}', RATIO, '{{ $value | humanizePercentage }}'],
    ['{value}', POLL_AGE, '{{ $value | humanizeDuration }}'],
    ['{value}', ruleOn({ name: 'in_progress' }), CALLS],
    ['{threshold}', { ...RATIO, threshold: 0.29 }, '29%'],
    ['{threshold}', POLL_AGE, '5m'],
    ['{threshold}', ruleOn({ name: 'calls_finished', window }, { threshold: 1, breach: 'below' }), '1 call'],
    ['{threshold}', STUCK, '0 calls'],
    ['{window}', RATIO, '15m'],
    ['{window}', STUCK, '3h'],
    ['{window}', POLL_AGE, 'n/a'],
    ['{calls}', RATIO, asked('of="all", target=%q', '$labels.target')],
    [
      '{calls}',
      { ...RATIO, by: ['type'], match: { mode: 'call' } },
      asked('of="mode=call, by type", target=%q, type=%q', '$labels.target $labels.type'),
    ],
    ['{calls}', ruleOn({ name: 'in_progress' }), '{{ printf "%.0f" $value }}'],
    ['{calls}', POLL_AGE, 'n/a'],
    ['{calls}', STUCK, 'n/a'],
    ['{labels}', RATIO, 'target={{ $labels.target }}'],
    ['{labels}', { ...RATIO, by: ['type'], match: { mode: 'call' } }, 'type={{ $labels.type }}, mode=call'],
    ['{other} { value }', RATIO, '{{ "{" }}other} {{ "{" }} value }'],
    ['{{threshold}}', POLL_AGE, '{{ "{" }}5m}'],
    ['{{ $value }}', RATIO, '{{ "{{" }} $value }}'],
  ])('%s of a description shows the same as in a message', (placeholder, rule, filled) => {
    const { annotations } = prometheusRule({ ...rule, description: placeholder }, INTERVAL)
    expect(annotations).toMatchObject({ description: filled })
  })

  test('lets Prometheus fill in the placeholders, and query the number of calls', (context) => {
    skipWithoutPromtool(context)
    const description = '{{{value}}} of {calls} calls, {labels}: more than {threshold} {{ $value }} in {window}'
    const runbookUrl = 'https://wiki.example/{{ a }}'
    const rule = { ...RATIO, by: ['type' as const], match: { mode: 'call' }, description, runbookUrl }
    const annotations = {
      summary: 'HighFailureRate on a (type=video): 50%, threshold 30%',
      description: '{{50%}} of 40 calls, type=video, mode=call: more than 30% {{ $value }} in 15m',
      runbook_url: runbookUrl,
    }
    const series = (name: string, labels: string, values: string) => ({ series: `${name}{${labels}}`, values })
    const finished = (status: string) => `target="a", type="video", mode="call", status="${status}"`
    const unitTest = {
      rule_files: [configFile(ruleFileOf([rule], INTERVAL))],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [
            // 20 more within each 15 minutes.
            series('callwatch_calls_total', finished('ended'), '0+1.3333333333x30'),
            series('callwatch_calls_total', finished('rejected'), '0+1.3333333333x30'),
            series(POLLED, 'target="a"', '0+60x30'),
          ],
          alert_rule_test: [
            {
              eval_time: '30m',
              alertname: `Callwatch${rule.name}`,
              exp_alerts: [
                { exp_labels: { severity: 'warning', target: 'a', type: 'video' }, exp_annotations: annotations },
              ],
            },
          ],
        },
      ],
    }
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', configFile(JSON.stringify(unitTest))], {
      encoding: 'utf8',
    })
    expect(`${stdout}${stderr}`).toContain('SUCCESS')
  })

  test('passes promtool with any name and any text', (context) => {
    skipWithoutPromtool(context)
    const pieces = fc.constantFrom(
      '{',
      '}',
      '{{',
      '}}',
      '{value}',
      '{labels}',
      '{calls}',
      '`',
      '"',
      '\\',
      '#',
      '\n',
      '-',
      ' ',
    )
    const text = fc.oneof(
      fc.constantFrom(
        '<<',
        '=',
        '~',
        'yes',
        '2001-01-01',
        '---',
        '...',
        '!!str',
        '\u2028',
        '\u0085x: y',
        '\uFEFF',
        '\uFFFF',
      ),
      fc
        .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 3 })), { minLength: 1, maxLength: 12 })
        .map((all) => all.join('')),
    )
    // Half of a character is no text.
    const samples = fc.sample(fc.tuple(text, text, text), { numRuns: 400, seed: 1 })
    const rules = samples.map(([name, description, url], i) => ({
      ...(i % 2 === 0 ? RATIO : ruleOn({ name: 'minutes', window, media: 'both' })),
      name: `${name}${i}`,
      description,
      runbookUrl: `https://wiki.example/${url}`,
    }))
    const file = ruleFileOf(rules, INTERVAL)
    // 200 alerts, what is recorded for all of them, and those of unowned targets and webhooks.
    expect(checkedByPromtool(file)).toContain('SUCCESS: 208 rules found')
    const names = alertsOf(file).slice(0, -OF_CALLWATCH.length)
    expect(names).toEqual(rules.filter((_, i) => i % 2 === 0).map(({ name }) => `Callwatch${name}`))
  })

  test('passes promtool with all signals', (context) => {
    skipWithoutPromtool(context)
    const rules = supported.map(([what, rule], i) => ({ ...rule, name: `${i}: "${what}" \\` }))
    const file = ruleFileOf(rules, INTERVAL)
    expect(checkedByPromtool(file)).toMatch(/SUCCESS: \d+ rules found/)
    expect(alertsOf(file)).toEqual([...rules.map(({ name }) => `Callwatch${name}`), ...OF_CALLWATCH])
  })
})

describe('a rule that PromQL cannot express is a comment with the reason', () => {
  const notEvaluatedAlike = (signal: string) => `${signal} has no counter that callwatch exports`
  const unsupported: [what: string, rule: Rule, reason: string][] = [
    [
      'failure_ratio with confidence',
      ruleOn({ name: 'failure_ratio', reason: 'any', window, minCalls: 20, confidence: 0.95 }),
      'PromQL has no confidence of a ratio',
    ],
    ['minutes', ruleOn({ name: 'minutes', window, media: 'both' }), notEvaluatedAlike('minutes')],
    [
      'answer_delay_p95',
      ruleOn({ name: 'answer_delay_p95', window, minCalls: 20 }),
      notEvaluatedAlike('answer_delay_p95'),
    ],
    ['duration_mean', ruleOn({ name: 'duration_mean', window, minCalls: 20 }), notEvaluatedAlike('duration_mean')],
    [
      'budget_minutes',
      ruleOn({ name: 'budget_minutes', limit: 1000, of: 'participants', timezone: 'UTC' }),
      notEvaluatedAlike('budget_minutes'),
    ],
    [
      'in_progress, if there were calls before',
      ruleOn({ name: 'in_progress' }, { onlyIf: { offset: 3600, atLeast: 1 } }),
      'in_progress has no window that only_if could compare with',
    ],
    [
      'more than two stuck_calls',
      { ...STUCK, threshold: 2 },
      'callwatch_oldest_open_call_timestamp_seconds is of the oldest call only, not a count',
    ],
  ]

  test.each(unsupported)('%s', (_what, rule, reason) => {
    const file = ruleFileOf([{ ...rule, name: 'Untold' }, POLL_AGE], INTERVAL)
    expect(file).toContain(`\n# "Untold" has no counterpart here: ${reason}\n`)
    expect(file).not.toContain('alert: CallwatchUntold')
    expect(file).toContain('alert: CallwatchNoGoodPoll')
  })

  test('a name of several lines adds nothing but itself to the comment', () => {
    const untold = ruleOn({ name: 'minutes', window, media: 'both' })
    for (const lineBreak of ['\n', '\r\n', '\u0085', '\u2028']) {
      const file = ruleFileOf([{ ...untold, name: `A${lineBreak}groups: [{ name: mine }]` }], INTERVAL)
      expect(file).toMatch(/^# "A\\\w+(?:\\n)?groups: /m)
      expect(file).not.toMatch(/[\r\u0085\u2028]|^groups: \[\{ name: mine/m)
      expect(parse(file).groups).toHaveLength(1)
      expect(alertsOf(file)).toEqual(OF_CALLWATCH)
    }
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

  test('has for each shipped alert a summary, and with the address of the runbooks its page', async () => {
    const annotated = async (...args: string[]): Promise<{ alert?: string; annotations: Record<string, string> }[]> => {
      const { stdout } = await callwatch(['prometheus-rules', ...args], { env })
      return parse(stdout).groups[0].rules.filter(({ alert }: { alert?: string }) => alert !== undefined)
    }
    const shipped = await annotated()
    expect(shipped).toHaveLength(6 + OF_CALLWATCH.length)
    for (const { annotations } of shipped) {
      expect(annotations['summary']).not.toBe('')
      // A relative path is no URL: receivers would show a broken link.
      expect(Object.keys(annotations).filter((name) => name.startsWith('runbook'))).toEqual([])
    }
    const pages = await runbookPages()
    for (const { annotations } of await annotated('--runbooks', 'https://watch.example/runbooks/')) {
      const [, name] = /^https:\/\/watch\.example\/runbooks\/(\w+)$/.exec(annotations['runbook_url']!)!
      expect(pages.has(`runbooks/${name}.html`), name).toBe(true)
    }
    expect((await callwatch(['prometheus-rules', '--runbooks', 'docs'], { env })).code).toBe(2)
  })

  test('links below the address of the page, if the configuration has it', async () => {
    const config = configFile(
      'targets: [{ app_id: a1, region: us, api_key: k }]\nhttp: { public_url: https://a.example/watch/ }\n',
    )
    const { stdout } = await callwatch(['prometheus-rules', '--config', config])
    expect(stdout).toContain('runbook_url: https://a.example/watch/runbooks/NoCalls\n')
  })

  test('prints the rules of the file, for its interval and lease', async () => {
    const config = configFile(`
targets: [{ name: production, app_id: a1, region: us, api_key: k }]
poll: { interval: 1m }
store: { url: 'postgres://db/callwatch', lease: 3m }
alerts:
  - { name: Busy, signal: in_progress, above: 50, for: 90s, keep_firing_for: 1h, severity: info }
  - { name: Slow, signal: answer_delay_p95, window: 1h, min_calls: 10, above: 30s, severity: info }
`)
    const { code, stdout } = await callwatch(['prometheus-rules', '--config', config])
    expect(code).toBe(0)
    expect(stdout).toContain('\n# "Slow" has no counterpart here: ')
    expect(stdout).toContain('<= 240)')
    expect(stdout).toContain('_owned) > 0\n        for: 6m\n')
    expect(stdout).toContain(
      '        for: 90s\n        keep_firing_for: 1h\n        labels:\n          severity: info\n',
    )
  })
})

function skipWithoutPromtool({ skip }: TestContext): void {
  if (missing && process.env['CI'] !== 'true') skip('promtool is not on the PATH: apt-get install prometheus')
}

function alertsOf(file: string): string[] {
  const rules: { alert?: string }[] = parse(file).groups[0].rules
  return rules.flatMap(({ alert = [] }) => alert)
}

function checkedByPromtool(file: string): string {
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'rules', configFile(file)], { encoding: 'utf8' })
  return error?.message ?? `${stdout}${stderr}`
}
