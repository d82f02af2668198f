import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AtRest, Rules } from '../../../../src/web/page/components/alerts/rules.tsx'
import type { PastAlert, WatchedRule } from '../../../../src/web/page/model/api.ts'
import { loadRules, refreshRules } from '../../../../src/web/page/model/alerts/rules.ts'
import { change, current, initialState, type State } from '../../../../src/web/page/model/state.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, rowsOf, stateOf, withoutBrowser } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const TARGET = shownTarget({ target: 'production', rules: [RATIO_RULE], sync: POLLED })
const RULE: WatchedRule = {
  name: 'HighFailureRate',
  severity: 'warning',
  signal: 'failure_ratio',
  breach: 'above',
  text: 'more than 30% of the calls failed',
  threshold: 0.3,
  notify: ['slack'],
  now: { target: 'production', labels: {}, value: 0.22, threshold: 0.35, calls: 40 },
  values: [0.2, null, 0.25, 0.22].map((value, i) => ({ at: isoTime(NOW - 900 * (4 - i)), value })),
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the components read
const PAST = {
  alert: 'HighFailureRate',
  target: 'production',
  labels: {},
  since: isoTime(NOW - 7200),
  until: isoTime(NOW - 6600),
} as PastAlert

const rulesOf = (rules: WatchedRule[]) => ({ ...initialState.rules, answer: { rules } })
const stateWith = (differing: Partial<State> = {}, target = TARGET) =>
  stateOf([target], { rules: rulesOf([RULE]), pastAlerts: [PAST], ...differing })
const textIn = (component: Parameters<typeof render>[0], state: State) => render(component, state)[0]?.text

describe('the view of alerts at rest', () => {
  test('says what watches, when an alert fired last, and where messages go, and sends a test message', () => {
    expect(textIn(AtRest, stateWith())).toBe(
      'Nothing is wrong Send a test message 1 rule watches production. The last alert was HighFailureRate, production , ' +
        '2026-09-21 12:13:20 UTC to 12:23:20. Messages go to slack.'.replace('2026-09-21 ', ''),
    )
    const none = stateWith({ pastAlerts: [] })
    none.snapshot!.receivers = []
    none.snapshot!.read_only = true
    expect(textIn(AtRest, none)).toBe(
      'Nothing is wrong 1 rule watches production. No alert has fired in the last 7 days. Nobody is notified: no receiver is configured.',
    )
  })

  test('is absent while an alert fires', () => {
    expect(textIn(AtRest, stateWith({}, shownTarget({ target: 'production', alerts: [firing()] })))).toBeUndefined()
  })

  test('says what became of the test messages', () => {
    const testing = { said: 'Accepted by slack.', problem: 'pager: HTTP 404', isSending: false }
    expect(textIn(AtRest, stateWith({ testing }))).toMatch(/pager: HTTP 404 Accepted by slack\.$/)
  })
})

test('the rules are loaded again each half minute while they are shown, and not for each letter of a search', async () => {
  withoutBrowser()
  const fetching = vi.fn(async () => new Response(JSON.stringify({ rules: [RULE] })))
  vi.stubGlobal('fetch', fetching)
  change({ ...stateWith(), view: 'alerts', rules: initialState.rules })
  await loadRules()
  await loadRules()
  const loads = async (seconds: number) => {
    refreshRules(performance.now() + seconds * 1000)
    await vi.waitFor(() => expect(current().rules.isLoading).toBe(false))
    return fetching.mock.calls.length
  }
  expect(await loads(20)).toBe(1)
  expect(await loads(31)).toBe(2)
  change({ view: 'overview' })
  expect(await loads(100)).toBe(2)
})

describe('the table of rules', () => {
  test('has the value against the threshold of now, when it fired last and how often, and who is notified', () => {
    expect(rowsOf(render(Rules, stateWith()))[1]).toBe(
      'HighFailureRate more than 30% of the calls failed 22% above 35% 12:13:20 10m 1 slack Silence',
    )
  })

  test('says whose value it is of several targets, and what is not known', () => {
    const other = shownTarget({ target: 'b', sync: POLLED })
    const rules = rulesOf([
      RULE,
      { ...RULE, name: 'B', now: null, no_value: 'fewer than 20 calls', values: [], notify: [] },
    ])
    const state = stateOf([TARGET, other], { rules, pastAlerts: [] })
    expect(rowsOf(render(Rules, state)).slice(1)).toEqual([
      'HighFailureRate more than 30% of the calls failed 22% production above 35% not in 7 days 0 slack Silence',
      'B more than 30% of the calls failed fewer than 20 calls above 30% – not in 7 days 0 nobody Silence',
    ])
  })

  test('says nothing of a past that is not known, or not whole', () => {
    const rowWith = (differing: Partial<State>) => rowsOf(render(Rules, stateWith(differing)))[1]
    expect(rowWith({ pastAlerts: undefined })).toMatch(/ above 35% – – slack Silence$/)
    expect(rowWith({ pastAlerts: [], isPastCut: true })).toMatch(/ above 35% – 0 or more slack Silence$/)
    expect(textIn(AtRest, stateWith({ pastAlerts: [], isPastCut: true }))).not.toContain('No alert has fired')
  })

  test('draws the values of the day as a line with gaps, and the threshold', () => {
    const elements = render(Rules, stateWith())
    const [line] = elements.filter(({ type }) => type === 'line')
    const path = String(elements.find(({ type, props }) => type === 'path' && props['d'])?.props['d'])
    expect(path.match(/M/g)).toHaveLength(2)
    expect(path.match(/L/g)).toHaveLength(1)
    // The threshold is the highest.
    expect(line?.props['y1']).toBe('1.0')
  })
})
