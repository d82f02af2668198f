import { expect, test } from 'vitest'
import { firing, RATIO_RULE } from '../metrics/hand-made-target.ts'
import { serve, shownTarget } from './serve.ts'

test('/api/v1/alerts lists the alerts of all targets in the documented shape', async () => {
  const pollAge = { ...firing(), key: 'NoGoodPoll', rule: { ...RATIO_RULE, name: 'NoGoodPoll' }, calls: undefined }
  const { url } = await serve([
    shownTarget({ rules: [RATIO_RULE], alerts: [firing()] }),
    shownTarget({ target: 'b', alerts: [{ ...pollAge, state: 'pending' }] }),
    shownTarget({ target: 'quiet' }),
  ])
  expect(await (await fetch(`${url}/api/v1/alerts`)).json()).toEqual({
    alerts: [
      {
        target: 'production',
        alert: 'HighFailureRate',
        severity: 'warning',
        state: 'firing',
        labels: {},
        value: 0.425,
        threshold: 0.3,
        calls: 40,
        since: '2026-09-21T14:10:20.000Z',
        firing_since: '2026-09-21T14:12:20.000Z',
        peak: 0.5,
        signal: 'failure_ratio',
        breach: 'above',
        clear: 0.2,
      },
      expect.objectContaining({ target: 'b', alert: 'NoGoodPoll', state: 'pending', calls: null }),
    ],
  })
})
