import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { firingOf, POLL_AGE, RATIO } from '../../kit/alerts/sample-rules.ts'
import { finishedCall, firing, NOW, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'

test('/api/v1/state has the alerts of all targets in the documented shape', async () => {
  const pollAge = { ...firing(), key: 'NoGoodPoll', rule: { ...RATIO_RULE, name: 'NoGoodPoll' }, calls: undefined }
  const { url } = await serve([
    shownTarget({ rules: [RATIO_RULE], alerts: [firing()] }),
    shownTarget({ target: 'b', alerts: [{ ...pollAge, state: 'pending', evidence: { lastPoll: NOW - 900 } }] }),
    shownTarget({ target: 'quiet' }),
  ])
  expect(JSON.parse(await (await fetch(`${url}/api/v1/state`)).text()).alerts).toEqual([
    {
      target: 'production',
      alert: 'HighFailureRate',
      key: 'HighFailureRate',
      severity: 'warning',
      state: 'firing',
      labels: {},
      value: 0.425,
      threshold: 0.3,
      calls: 40,
      since: '2026-09-21T14:10:20.000Z',
      began: '2026-09-21T14:10:20.000Z',
      firing_since: '2026-09-21T14:12:20.000Z',
      peak: 0.5,
      signal: 'failure_ratio',
      breach: 'above',
      clear: 0.2,
      summary: 'production: 42.5% of 40 calls failed in 15 minutes, mostly rejected',
      group: { alert: 'HighFailureRate', severity: 'warning' },
    },
    expect.objectContaining({
      target: 'b',
      alert: 'NoGoodPoll',
      state: 'pending',
      calls: null,
      began: isoTime(NOW - 900),
    }),
  ])
})

test('/api/v1/alerts lists the alerts that fired in a period, newest first', async () => {
  const { url, append } = await serve([shownTarget()], { history: [{ target: 'production', call: finishedCall('a') }] })
  const fired = firingOf(RATIO, 'production', NOW - 3600, { peak: 0.7 })
  const episode = { threshold: 0.3, values: [[NOW - 3600, 0.5], [NOW - 1800, null]] as const, measuredFrom: NOW - 4500 } // oxfmt-ignore
  const window = { from: NOW - 2700, to: NOW - 1800 }
  await append(fired, { ...fired, kind: 'resolved', at: NOW - 1800, threshold: 0.2, episode, window })
  await append(firingOf(POLL_AGE, 'production', NOW - 60))
  const ask = async (query: string) => {
    const { alerts } = JSON.parse(await (await fetch(`${url}/api/v1/alerts?${query}`)).text())
    return alerts
  }
  const names = async (query: string) => (await ask(query)).map(({ alert }: { alert: string }) => alert)
  expect(await ask(`since=2h&until=${NOW - 600}`)).toEqual([
    {
      target: 'production',
      alert: 'HighFailureRate',
      key: 'HighFailureRate',
      severity: 'warning',
      labels: {},
      signal: 'failure_ratio',
      window_seconds: 900,
      reason: 'any',
      min_calls: 20,
      match: {},
      breach: 'above',
      threshold: 0.3,
      since: '2026-09-21T13:13:20.000Z',
      until: '2026-09-21T13:43:20.000Z',
      outcome: 'resolved',
      peak: 0.7,
      rule: expect.stringMatching(/^more than 30% of the calls /),
      calls_url:
        '/api/v1/calls?target=production&status=unanswered%2Crejected%2Ccanceled' +
        '&since=2026-09-21T12%3A58%3A20.000Z&until=2026-09-21T13%3A43%3A20.001Z',
      values: [
        { at: '2026-09-21T13:13:20.000Z', value: 0.5 },
        { at: '2026-09-21T13:43:20.000Z', value: null },
      ],
      notified: [],
      refused: [],
      suppressed: [],
      blind: expect.any(Array),
    },
  ])
  expect(await names('since=0')).toEqual(['NoGoodPoll', 'HighFailureRate'])
  expect(await names('since=20m')).toEqual(['NoGoodPoll'])
  expect(await names('since=0&alert=HighFailureRate&target=production')).toEqual(['HighFailureRate'])
  expect(await names('since=0&severity=critical')).toEqual(['NoGoodPoll'])
})

test('/api/v1/state names the active silences that match an alert', async () => {
  const { url } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [firing()] })], { auth: AUTH })
  const add = async (match: object) =>
    fetch(`${url}/api/v1/silences`, {
      method: 'POST',
      headers: { ...basic(), 'content-type': 'application/json' },
      body: JSON.stringify({ match, for: '1h' }),
    })
  const ids = []
  for (const match of [{ severity: 'critical' }, { alert: 'HighFailureRate' }]) {
    const added = await add(match)
    ids.push(JSON.parse(await added.text()).id)
  }
  const answer = await fetch(`${url}/api/v1/state`, { headers: basic() })
  expect(JSON.parse(await answer.text()).alerts).toMatchObject([{ silences: [ids[1]] }])
})
