import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { receiverView } from '../../../src/views/state/receiver-status.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve } from '../../kit/web/serve.ts'

test('each receiver is shown with what cannot be delivered to it, since when and why', async () => {
  const failure = { problem: 'it answered 503', next: NOW + 30, pending: 2, oldest: NOW - 120 }
  const { url } = await serve([], {
    receivers: () => [
      { name: 'slack', failure: { ...failure, since: NOW - 60 } },
      // Others of its messages arrive.
      { name: 'mail', failure },
      { name: 'pager', failure: undefined },
    ],
  })
  const waiting = {
    pending: 2,
    oldest_pending_seconds: 120,
    problem: 'it answered 503',
    next_attempt: isoTime(NOW + 30),
  }
  expect(JSON.parse(await (await fetch(`${url}/api/v1/state`)).text()).receivers).toEqual([
    { name: 'slack', ...waiting, failing_since: isoTime(NOW - 60) },
    { name: 'mail', ...waiting },
    { name: 'pager', pending: 0 },
  ])
})

test('the next attempt is named only while it is to come', () => {
  const nextOf = (next: number) =>
    receiverView({ name: 'slack', failure: { problem: 'refused', next, pending: 1, oldest: NOW } }, NOW).next_attempt
  expect([nextOf(NOW + 1), nextOf(NOW)]).toEqual([isoTime(NOW + 1), undefined])
})
