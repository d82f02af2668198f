import { expect, test } from 'vitest'
import { finish, LOOKED, NOW } from '../metrics/hand-made-target.ts'
import { serve, watchedTarget } from './serve.ts'

// 14:13:20; the last good look was five seconds ago by the monotonic clock.
const FINISHED = [finish('ended', 10), finish('rejected', 19), finish('ended', 20), finish('unanswered', 21)]

async function perMinute(query: string, ...targets: ReturnType<typeof watchedTarget>[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/api/v1/finished-per-minute${query}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('a call belongs to the minute in which it finished, and to that one only', async () => {
  const { body } = await perMinute('?minutes=3', watchedTarget({ facts: LOOKED, finished: FINISHED }))
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

test('what came after the last good look is not known, which is not none', async () => {
  const facts = { ...LOOKED, lastGood: NOW - 120 }
  const { body } = await perMinute(
    '?minutes=4',
    watchedTarget({ facts, lookAge: 120 }),
    watchedTarget({ target: 'new', facts: {} }),
  )
  expect(body.targets[0].ended).toEqual([0, 0, null, null])
  expect(body.targets[1].ended).toEqual([null, null, null, null])
})

test('an hour is shown where nothing else is asked for', async () => {
  const { body } = await perMinute('', watchedTarget({ facts: LOOKED }))
  expect(body.targets[0].ended).toHaveLength(60)
})

test.each(['0', '1441', 'x', '1.5', ''])('%j minutes are refused with a sentence', async (minutes) => {
  expect(await perMinute(`?minutes=${minutes}`, watchedTarget())).toEqual({
    status: 400,
    body: { error: 'minutes must be a whole number from 1 to 1440' },
  })
})
