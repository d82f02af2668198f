import { describe, expect, test } from 'vitest'
import { MATCH_KEYS, MATCH_VALUES } from '../../../src/alerts/match-keys.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { leftOutWarnings } from '../../../src/config/shipped-rules.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { alertMatch } from '../../../src/notifications/notify-section.ts'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'

const target = 'targets: [{ app_id: a1, region: us, api_key: k }]\n'

/** A rule whose file says nothing but its signal, and when it fires and clears. */
const on = (signal: Signal, breach: Rule['breach'], threshold: number, clear = threshold): Omit<Rule, 'name'> => ({
  signal,
  breach,
  threshold,
  clear,
  severity: 'warning',
  for: 0,
  keepFiringFor: 0,
  repeat: 14_400,
  match: {},
  by: [],
})
const windowed = { window: 900, minCalls: 20 }

/** For each signal a rule in as few words as can be, and one that uses every key. */
const rules: Record<Signal['name'], [source: string, rule: Omit<Rule, 'name'>][]> = {
  failure_ratio: [
    ['above: 0.4', on({ name: 'failure_ratio', reason: 'any', ...windowed }, 'above', 0.4)],
    [
      `reason: unanswered, match: { type: video, mode: call, receiver_type: other }, by: [receiver_type, type],
       window: 1h, only_if: { offset: 7d, at_least: 5 }, min_calls: 1, confidence: 0.95, above: 0.3, clear: 0,
       for: 90s, keep_firing_for: 5m, repeat: 0, severity: critical, runbook_url: "https://wiki.example/a", description: "{value}"`,
      {
        signal: { name: 'failure_ratio', reason: 'unanswered', window: 3600, minCalls: 1, confidence: 0.95 },
        match: { type: 'video', mode: 'call', receiver_type: 'other' },
        by: ['receiver_type', 'type'],
        onlyIf: { offset: 604_800, atLeast: 5 },
        breach: 'above',
        threshold: 0.3,
        clear: 0,
        for: 90,
        keepFiringFor: 300,
        repeat: 0,
        severity: 'critical',
        runbookUrl: 'https://wiki.example/a',
        description: '{value}',
      },
    ],
    ['below: 0.1, clear: 0.2', on({ name: 'failure_ratio', reason: 'any', ...windowed }, 'below', 0.1, 0.2)],
  ],
  calls_finished: [
    ['below: 1', on({ name: 'calls_finished', window: 900 }, 'below', 1)],
    [
      'above: 100, clear: 50.5, window: 1d, by: [mode]',
      { ...on({ name: 'calls_finished', window: 86_400 }, 'above', 100, 50.5), by: ['mode'] },
    ],
  ],
  calls_started: [
    [
      'below: 2, clear: 3, only_if: { offset: 1h, at_least: 1 }',
      { ...on({ name: 'calls_started', window: 900 }, 'below', 2, 3), onlyIf: { offset: 3600, atLeast: 1 } },
    ],
  ],
  minutes: [
    ['above: 1e4', on({ name: 'minutes', window: 900, media: 'both' }, 'above', 10_000)],
    ['media: audio, above: 0', on({ name: 'minutes', window: 900, media: 'audio' }, 'above', 0)],
  ],
  in_progress: [['above: 500', on({ name: 'in_progress' }, 'above', 500)]],
  answer_delay_p95: [
    ['above: 20s', on({ name: 'answer_delay_p95', ...windowed }, 'above', 20)],
    ['above: 20.0005, clear: "12.5"', on({ name: 'answer_delay_p95', ...windowed }, 'above', 20.0005, 12.5)],
  ],
  duration_mean: [
    ['below: 30, clear: 1m, min_calls: 50', on({ name: 'duration_mean', window: 900, minCalls: 50 }, 'below', 30, 60)],
  ],
  short_calls: [
    [
      'above: 0.3, min_calls: 50',
      on({ name: 'short_calls', window: 900, shorterThan: 10, minCalls: 50 }, 'above', 0.3),
    ],
  ],
  recorded: [
    ['below: 0.95, window: 1h', on({ name: 'recorded', window: 3600, offset: 1800, minCalls: 20 }, 'below', 0.95)],
    ['below: 0.9, clear: 0.99, offset: 0', on({ name: 'recorded', ...windowed, offset: 0 }, 'below', 0.9, 0.99)],
  ],
  not_joined: [['above: 0.5', on({ name: 'not_joined', ...windowed }, 'above', 0.5)]],
  stuck_calls: [
    ['', on({ name: 'stuck_calls', longerThan: 10_800 }, 'above', 0)],
    [
      'status: ongoing, longer_than: 90m, above: 3, clear: 1, match: { mode: meet }, by: [type]',
      {
        ...on({ name: 'stuck_calls', status: 'ongoing', longerThan: 5400 }, 'above', 3, 1),
        match: { mode: 'meet' },
        by: ['type'],
      },
    ],
  ],
  poll_age: [
    ['above: 90', on({ name: 'poll_age' }, 'above', 90)],
    ['above: 5m, clear: 0', on({ name: 'poll_age' }, 'above', 300, 0)],
  ],
  request_errors: [
    ['above: 0.5', on({ name: 'request_errors', window: 900, minRequests: 20 }, 'above', 0.5)],
    [
      'window: 5m, min_requests: 4, above: 0.5, clear: 0.2',
      on({ name: 'request_errors', window: 300, minRequests: 4 }, 'above', 0.5, 0.2),
    ],
  ],
  budget_minutes: [
    [
      'limit: 100000',
      on({ name: 'budget_minutes', limit: 100_000, of: 'participants', timezone: 'UTC', cycleDay: 1 }, 'above', 1),
    ],
    [
      'limit: 0.5, of: duration, timezone: Europe/Berlin, above: 1.2, clear: 1.1',
      on(
        { name: 'budget_minutes', limit: 0.5, of: 'duration', timezone: 'Europe/Berlin', cycleDay: 1 },
        'above',
        1.2,
        1.1,
      ),
    ],
  ],
}
const cases = Object.entries(rules).flatMap(([signal, all]) =>
  all.map(([source, rule]) => [signal, source, rule] as const),
)

describe('a rule', () => {
  test.each(cases)('of %s: %s, which is the same when its print is loaded again', (signal, source, rule) => {
    const config = load(`alerts: [{ name: A, signal: ${signal}, ${source} }]`)
    expect(config.alerts).toStrictEqual([{ name: 'A', ...rule }])
    const again = loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': maskConfig(config) }) })
    expect(again.alerts).toStrictEqual(config.alerts)
  })

  test('may have any letters and signs in its name, and so may a target', () => {
    const name = 'Výpadek „hovorů“ – 50% [a, b] 👩‍👧: "x" \\'
    const target = `${name.replace(',', '')}{}`
    const yaml = JSON.stringify({
      targets: [{ name: target, app_id: 'a1', region: 'us', api_key: 'k' }],
      alerts: [{ name, signal: 'poll_age', above: 1 }],
    })
    const { alerts, targets } = loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': yaml }) })
    expect([alerts[0]?.name, targets[0]?.name]).toEqual([name, target])
  })

  test('is printed with the keys of its signal, times as people write them', () => {
    const source = 'alerts: [{ name: A, signal: answer_delay_p95, above: 90, clear: 60, by: [type] }]'
    const printed = maskConfig(load(source))
    expect(printed.slice(printed.indexOf('alerts:'), printed.indexOf('events:'))).toBe(`alerts:
  - name: A
    signal: answer_delay_p95
    match: {}
    by:
      - type
    window: 15m
    min_calls: 20
    above: 90s
    clear: 1m
    for: 0s
    keep_firing_for: 0s
    repeat: 4h
    severity: warning
`)
  })

  test('may look back for as long as finished calls are kept', () => {
    const source = 'alerts: [{ name: A, signal: calls_finished, below: 1, window: 2h }]\nstore: { history: 2h }'
    expect(load(source).alerts).toMatchObject([{ signal: { window: 7200 } }])
    const offset = source.replace('2h }', '1h, only_if: { offset: 1h, at_least: 1 } }')
    expect(load(offset).alerts).toMatchObject([{ signal: { window: 3600 }, onlyIf: { offset: 3600 } }])
  })
})

test.each([
  [
    '8d',
    [
      'HighFailureRate',
      'VeryHighFailureRate',
      'NoCalls',
      'FewerCalls',
      'RingingTooLong',
      'StuckCalls',
      'NoGoodPoll',
      'ServiceErrors',
    ],
    [],
  ],
  [
    '7d',
    ['HighFailureRate', 'VeryHighFailureRate', 'RingingTooLong', 'StuckCalls', 'NoGoodPoll', 'ServiceErrors'],
    ['NoCalls', 'FewerCalls'],
  ],
  [
    '1h',
    ['HighFailureRate', 'VeryHighFailureRate', 'RingingTooLong', 'StuckCalls', 'NoGoodPoll', 'ServiceErrors'],
    ['NoCalls', 'FewerCalls'],
  ],
  [
    '10m',
    ['RingingTooLong', 'StuckCalls', 'NoGoodPoll'],
    ['HighFailureRate', 'VeryHighFailureRate', 'NoCalls', 'FewerCalls', 'ServiceErrors'],
  ],
])('of the shipped rules with a history of %s only those hold that it serves', (history, kept, leftOut) => {
  const config = load(`store: { history: ${history} }`)
  expect(config.alerts.map(({ name }) => name)).toEqual(kept)
  expect(leftOutWarnings(config).map((warning) => /^the shipped rule (\w+) was left out/.exec(warning)?.[1])).toEqual(
    leftOut,
  )
})

test('the warning of a shipped rule says how far it looks back', () => {
  expect(leftOutWarnings(load('store: { history: 1h }'))).toEqual([
    'the shipped rule NoCalls was left out: the window of the rule `NoCalls` is 1h and its `only_if.offset` 7d; expected ' +
      'together at most `store.history`, which is 1h',
    'the shipped rule FewerCalls was left out: the window of the rule `FewerCalls` is 1h and its `relative_to` 7d; expected ' +
      'together at most `store.history`, which is 1h',
  ])
  expect(leftOutWarnings(load('alerts: []\nstore: { history: 1h }'))).toEqual([])
})

test.each(['short_calls', 'not_joined', 'request_errors', 'failure_ratio'])(
  'a rule on %s above 1 is refused, since it could never fire',
  (signal) => {
    const cwd = folderWith({ 'callwatch.yaml': `${target}alerts: [{ name: All, signal: ${signal}, above: 1 }]\n` })
    expect(problemsWhenLoading({ env: {}, cwd })).toContain('no ratio can be above that')
  },
)

test('a route, a mute and a silence may match the labels of calls, the severity, and any rule and target', () => {
  const { shape } = alertMatch.in
  expect(Object.keys(shape)).toEqual(MATCH_KEYS)
  const { alert, target: ofTarget, ...others } = shape
  expect([alert, ofTarget].every((name) => name.safeParse('any').success)).toBe(true)
  for (const [key, schema] of Object.entries(others)) {
    const words = Object.entries<readonly string[]>(MATCH_VALUES).find(([name]) => name === key)?.[1] ?? []
    const accepts = (value: string) => schema.safeParse(value).success
    expect([...words, `=~${words[0]}|none`].filter((value) => !accepts(value))).toEqual([])
    expect(['none', '', '=~none'].filter(accepts)).toEqual([])
  }
})

function load(source: string) {
  return loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': `${target}${source}\n` }) })
}
