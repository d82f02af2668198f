import { expect, test, vi } from 'vitest'
import { replay } from '../../../src/alerts/replay.ts'
import type * as Signals from '../../../src/alerts/signals.ts'
import { handMadeLedger } from '../../kit/metrics/hand-made-target.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { configJsonSchema } from '../../kit/config/config-json-schema.ts'
import { summaryOf } from '../../../src/alerts/text/alert-text.ts'
import { ruleView } from '../../../src/views/rule.ts'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'
import { labelled, times } from '../alerts/sample-calls.ts'
import { at, INTERVAL, pollAt, evaluatedTarget } from '../alerts/evaluated-target.ts'

// A signal that is in the list, and nowhere else.
vi.mock('../../../src/alerts/signals.ts', async (original) => {
  const { signals } = await original<typeof Signals>()
  const { typeShare } = await import('./type-share.ts')
  return { signals: [...signals, typeShare] }
})

const TARGETS = 'targets: [{ app_id: a1, region: us, api_key: k }]\n'
const load = (yaml: string) => loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': yaml }) })
const RULE = '{ name: Video, signal: type_share, of: video, by: [mode], window: 1h, above: 0.5, clear: 0.4 }'
const videoRule = () => load(`${TARGETS}alerts: [${RULE}]`).alerts[0]!
const FINISHED = [...times(3, at(0), 'ended', labelled('video')), ...times(2, at(0), 'ended')]

test('a further signal in the list is one that rules can have, with its own keys', () => {
  const config = load(`${TARGETS}alerts: [${RULE}]`)
  expect(config.alerts).toMatchObject([
    {
      signal: { name: 'type_share', of: 'video', window: 3600 },
      by: ['mode'],
      breach: 'above',
      threshold: 0.5,
      clear: 0.4,
    },
  ])
  expect(load(maskConfig(config)).alerts).toStrictEqual(config.alerts)
  expect(JSON.stringify(configJsonSchema())).toContain('"const":"type_share"')
})

test.each([
  [
    '{ name: A, signal: type_share, of: fax, above: 0.5 }',
    /\.of: found `fax`; expected one of `audio`, `video`, `other`/,
  ],
  ['{ name: A, signal: calls_finished, of: video, above: 5 }', /`of` is not accepted for `calls_finished`/],
  ['{ name: A, signal: share, above: 5 }', /`budget_minutes`, `type_share`/],
])('a wrong rule is refused in its words: %s', (rule, problem) => {
  const cwd = folderWith({ 'callwatch.yaml': `${TARGETS}alerts: [${rule}]` })
  expect(problemsWhenLoading({ env: {}, cwd })).toMatch(problem)
})

test('it is evaluated, shown in a message and in the status, and replayed', () => {
  const rule = videoRule()
  const target = evaluatedTarget([rule])
  target.evaluate(pollAt(at(0), { finished: FINISHED }), at(0))
  const summary = '60% of the calls that finished in the last 1h are of type video, above the threshold of 50%'
  expect(target.notifications.map(summaryOf)).toEqual([summary])
  expect(target.notifications).toMatchObject([
    { key: 'Video{mode="call"}', value: 0.6, calls: 5, trend: { length: 8 } },
  ])

  const evaluations = [{ kind: 'poll', at: at(0), now: at(0), previousSuccess: undefined, limited: false } as const]
  const options = { target: 'production', rules: [rule], interval: INTERVAL }
  expect(replay({ evaluations, finishes: FINISHED, sync: { created: 0 }, gaps: [] }, options).notifications).toEqual(
    target.notifications,
  )

  expect(ruleView(rule, handMadeLedger({ finished: FINISHED, sync: { lastSuccess: at(0) } }))).toMatchObject({
    signal: 'type_share',
    window_seconds: 3600,
    readings: [{ labels: { mode: 'call' }, value: 0.6, calls: 5 }, {}, {}],
  })
})
