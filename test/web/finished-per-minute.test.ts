import { expect, test } from 'vitest'
import { finish, POLLED, NOW } from '../metrics/hand-made-target.ts'
import { serve, shownTarget } from './serve.ts'

// It is 14:13:20, and the last successful poll was five seconds ago.
const FINISHED = [finish('ended', 10), finish('rejected', 19), finish('ended', 20), finish('unanswered', 21)]

async function perMinute(query: string, ...targets: ReturnType<typeof shownTarget>[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/api/v1/finished-per-minute${query}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('/api/v1/finished-per-minute counts a call in the minute in which it finished', async () => {
  const { body } = await perMinute('?minutes=3', shownTarget({ sync: POLLED, finished: FINISHED }))
  expect(body).toEqual({
    since: '2026-09-21T14:11:00.000Z',
    step_seconds: 60,
    targets: [
      {
        name: 'production',
        ended: [0, 0, 2],
        unanswered: [0, 1, 0],
        rejected: [0, 0, 1],
        canceled: [0, 0, 0],
        other: [0, 0, 0],
      },
    ],
  })
})

test('/api/v1/finished-per-minute has null, not 0, for the minutes after the last successful poll', async () => {
  const sync = { ...POLLED, lastSuccess: NOW - 120 }
  const { body } = await perMinute(
    '?minutes=4',
    shownTarget({ sync, pollAge: 120 }),
    shownTarget({ target: 'new', sync: {} }),
  )
  expect(body.targets[0].ended).toEqual([0, 0, null, null])
  expect(body.targets[1].ended).toEqual([null, null, null, null])
})

test('/api/v1/finished-per-minute has no target before any is known', async () => {
  const { status, body } = await perMinute('?minutes=3')
  expect(status).toBe(200)
  expect(body).toEqual({ since: '2026-09-21T14:11:00.000Z', step_seconds: 60, targets: [] })
})

test('/api/v1/finished-per-minute has an hour by default', async () => {
  const { body } = await perMinute('', shownTarget({ sync: POLLED }))
  expect(body.targets[0].ended).toHaveLength(60)
})

test.each(['0', '1441', 'x', '1.5', ''])(
  '/api/v1/finished-per-minute?minutes=%s is refused with a sentence',
  async (minutes) => {
    expect(await perMinute(`?minutes=${minutes}`, shownTarget())).toEqual({
      status: 400,
      body: expect.objectContaining({ detail: 'minutes must be a whole number from 1 to 1440' }),
    })
  },
)
