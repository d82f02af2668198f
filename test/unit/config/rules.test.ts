import { describe, expect, test } from 'vitest'
import { MATCH_KEYS, MATCH_VALUES } from '../../../src/alerts/match-keys.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { leftOutWarnings } from '../../../src/config/shipped-rules.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { alertMatch } from '../../../src/notifications/notify-section.ts'
import { folderWith } from './folder-with.ts'

const target = 'targets: [{ app_id: a1, region: us, api_key: k }]\n'

/** What a rule has of which its file says nothing. */
const silent = { severity: 'warning', for: 0, keepFiringFor: 0, repeat: 14_400, match: {}, by: [] } as const

/** For each signal a rule in as few words as can be, and one that uses every key. */
const rules: Record<Signal['name'], [source: string, rule: Omit<Rule, 'name'>][]> = {
  failure_ratio: [
    [
      'above: 0.4',
      {
        ...silent,
        signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
        breach: 'above',
        threshold: 0.4,
        clear: 0.4,
      },
    ],
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
    [
      'below: 0.1, clear: 0.2',
      {
        ...silent,
        signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
        breach: 'below',
        threshold: 0.1,
        clear: 0.2,
      },
    ],
  ],
  calls_finished: [
    [
      'below: 1',
      { ...silent, signal: { name: 'calls_finished', window: 900 }, breach: 'below', threshold: 1, clear: 1 },
    ],
    [
      'above: 100, clear: 50.5, window: 1d, by: [mode]',
      {
        ...silent,
        signal: { name: 'calls_finished', window: 86_400 },
        by: ['mode'],
        breach: 'above',
        threshold: 100,
        clear: 50.5,
      },
    ],
  ],
  calls_started: [
    [
      'below: 2, clear: 3, only_if: { offset: 1h, at_least: 1 }',
      {
        ...silent,
        signal: { name: 'calls_started', window: 900 },
        onlyIf: { offset: 3600, atLeast: 1 },
        breach: 'below',
        threshold: 2,
        clear: 3,
      },
    ],
  ],
  minutes: [
    [
      'above: 1e4',
      {
        ...silent,
        signal: { name: 'minutes', window: 900, media: 'both' },
        breach: 'above',
        threshold: 10_000,
        clear: 10_000,
      },
    ],
    [
      'media: audio, above: 0',
      {
        ...silent,
        signal: { name: 'minutes', window: 900, media: 'audio' },
        breach: 'above',
        threshold: 0,
        clear: 0,
      },
    ],
  ],
  in_progress: [
    ['above: 500', { ...silent, signal: { name: 'in_progress' }, breach: 'above', threshold: 500, clear: 500 }],
  ],
  answer_delay_p95: [
    [
      'above: 20s',
      {
        ...silent,
        signal: { name: 'answer_delay_p95', window: 900, minCalls: 20 },
        breach: 'above',
        threshold: 20,
        clear: 20,
      },
    ],
    [
      'above: 20.0005, clear: "12.5"',
      {
        ...silent,
        signal: { name: 'answer_delay_p95', window: 900, minCalls: 20 },
        breach: 'above',
        threshold: 20.0005,
        clear: 12.5,
      },
    ],
  ],
  duration_mean: [
    [
      'below: 30, clear: 1m, min_calls: 50',
      {
        ...silent,
        signal: { name: 'duration_mean', window: 900, minCalls: 50 },
        breach: 'below',
        threshold: 30,
        clear: 60,
      },
    ],
  ],
  short_calls: [
    [
      'above: 0.3, min_calls: 50',
      {
        ...silent,
        signal: { name: 'short_calls', window: 900, shorterThan: 10, minCalls: 50 },
        breach: 'above',
        threshold: 0.3,
        clear: 0.3,
      },
    ],
  ],
  recorded: [
    [
      'below: 0.95, window: 1h',
      {
        ...silent,
        signal: { name: 'recorded', window: 3600, offset: 1800, minCalls: 20 },
        breach: 'below',
        threshold: 0.95,
        clear: 0.95,
      },
    ],
    [
      'below: 0.9, clear: 0.99, offset: 0',
      {
        ...silent,
        signal: { name: 'recorded', window: 900, offset: 0, minCalls: 20 },
        breach: 'below',
        threshold: 0.9,
        clear: 0.99,
      },
    ],
  ],
  stuck_calls: [
    ['', { ...silent, signal: { name: 'stuck_calls', longerThan: 10_800 }, breach: 'above', threshold: 0, clear: 0 }],
    [
      'status: ongoing, longer_than: 90m, above: 3, clear: 1, match: { mode: meet }, by: [type]',
      {
        ...silent,
        signal: { name: 'stuck_calls', status: 'ongoing', longerThan: 5400 },
        match: { mode: 'meet' },
        by: ['type'],
        breach: 'above',
        threshold: 3,
        clear: 1,
      },
    ],
  ],
  poll_age: [
    ['above: 90', { ...silent, signal: { name: 'poll_age' }, breach: 'above', threshold: 90, clear: 90 }],
    ['above: 5m, clear: 0', { ...silent, signal: { name: 'poll_age' }, breach: 'above', threshold: 300, clear: 0 }],
  ],
  request_errors: [
    [
      'above: 0.5',
      {
        ...silent,
        signal: { name: 'request_errors', window: 900, minRequests: 20 },
        breach: 'above',
        threshold: 0.5,
        clear: 0.5,
      },
    ],
    [
      'window: 5m, min_requests: 4, above: 0.5, clear: 0.2',
      {
        ...silent,
        signal: { name: 'request_errors', window: 300, minRequests: 4 },
        breach: 'above',
        threshold: 0.5,
        clear: 0.2,
      },
    ],
  ],
  service_webhooks_missed: [
    [
      'window: 5m, min_ends: 4, above: 0.1, clear: 0.05',
      {
        ...silent,
        signal: { name: 'service_webhooks_missed', window: 300, minEnds: 4 },
        breach: 'above',
        threshold: 0.1,
        clear: 0.05,
      },
    ],
  ],
  budget_minutes: [
    [
      'limit: 100000',
      {
        ...silent,
        signal: { name: 'budget_minutes', limit: 100_000, of: 'participants', timezone: 'UTC' },
        breach: 'above',
        threshold: 1,
        clear: 1,
      },
    ],
    [
      'limit: 0.5, of: duration, timezone: Europe/Berlin, above: 1.2, clear: 1.1',
      {
        ...silent,
        signal: { name: 'budget_minutes', limit: 0.5, of: 'duration', timezone: 'Europe/Berlin' },
        breach: 'above',
        threshold: 1.2,
        clear: 1.1,
      },
    ],
  ],
}
const cases = Object.entries(rules).flatMap(([signal, all]) =>
  all.map(([source, rule]) => [signal, source, rule] as const),
)

describe('a rule', () => {
  test.each(cases)('of %s: %s', (signal, source, rule) => {
    expect(load(`alerts: [{ name: A, signal: ${signal}, ${source} }]`).alerts).toStrictEqual([{ name: 'A', ...rule }])
  })

  test.each(cases)('of %s: %s is the same when its print is loaded again', (signal, source) => {
    const config = load(`alerts: [{ name: A, signal: ${signal}, ${source} }]`)
    expect(loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': maskConfig(config) }) }).alerts).toStrictEqual(
      config.alerts,
    )
  })

  test('may have any letters and signs in its name, and so may a target', () => {
    const name = 'Výpadek „hovorů“ – 50% [a, b] 👩‍👧: "x" \\'
    const target = `${name.replace(',', '')}{}`
    const { alerts, targets } = loadConfig({
      env: {},
      cwd: folderWith({
        'callwatch.yaml': JSON.stringify({
          targets: [{ name: target, app_id: 'a1', region: 'us', api_key: 'k' }],
          alerts: [{ name, signal: 'poll_age', above: 1 }],
        }),
      }),
    })
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
