import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { finishedPerMinuteRoute, type PerMinuteSource } from '../../../src/web/api/finished-per-minute.ts'
import { mount } from '../../../src/web/api/route.ts'
import { POLLED, NOW } from '../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../kit/web/serve.ts'

type Found = Awaited<ReturnType<PerMinuteSource['store']['finishedPerMinute']>>
type Given = { found: Found; others: Others; rows: PerMinuteSource['store']['rows'] }
type Others = ReturnType<PerMinuteSource['targets']['others']>

/** It is 14:13:20, and the last successful poll was five seconds ago. `found` is what the store counts. */
async function perMinute(
  query: string,
  own: ReturnType<typeof shownTarget>[] = [],
  { found = [], others = [], rows = async () => [] }: Partial<Given> = {},
) {
  const app = fastify()
  onTestFinished(() => app.close())
  const asked: unknown[] = []
  const finishedPerMinute = async (...args: unknown[]) => {
    asked.push(args)
    return found
  }
  const all = () => [...others, ...own].map(({ name }) => name)
  const targets = { all, own: () => own, others: () => others }
  mount(app, finishedPerMinuteRoute, { targets, store: { finishedPerMinute, rows }, wall: () => NOW })
  const response = await app.inject(`/api/v1/finished-per-minute${query}`)
  return { status: response.statusCode, body: response.json(), asked }
}

test('/api/v1/finished-per-minute has what the store counts, by target, minute and status', async () => {
  const found = [
    { target: 'production', minute: 1, status: 'unanswered', n: 1 },
    { target: 'production', minute: 2, status: 'ended', n: 2 },
    { target: 'production', minute: 2, status: 'rejected', n: 1 },
  ] as const
  const { body, asked } = await perMinute('?minutes=3', [shownTarget({ sync: POLLED })], { found: [...found] })
  expect(asked).toEqual([[['production'], Date.parse('2026-09-21T14:11:00.000Z') / 1000, 3]])
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
  const old = shownTarget({ sync: { ...POLLED, lastSuccess: NOW - 120 }, pollAge: 120 })
  const fresh = shownTarget({ target: 'new', sync: {} })
  const found = [{ target: 'production', minute: 3, status: 'ended', n: 1 } as const]
  const { body } = await perMinute('?minutes=4', [old, fresh], { found })
  expect(body.targets[0].ended).toEqual([0, 0, null, null])
  expect(body.targets[1].ended).toEqual([null, null, null, null])
})

test('/api/v1/finished-per-minute has the times before the set-up and of outages, in whole minutes', async () => {
  const sync = { created: NOW - 1000, lastSuccess: NOW - 5, previousSuccess: NOW - 20 }
  const rows: Given['rows'] = async (statement) =>
    statement.includes('gaps')
      ? [{ name: 'production', began: NOW - 300, ended: NOW - 160 }]
      : [{ name: 'production', sync: JSON.stringify(sync), expired: null }]
  const { body } = await perMinute('?minutes=20', [shownTarget({ sync: POLLED })], { rows })
  expect(body.targets[0].blind).toEqual([
    { since: '2026-09-21T13:54:00.000Z', until: '2026-09-21T13:57:00.000Z' },
    { since: '2026-09-21T14:08:00.000Z', until: '2026-09-21T14:11:00.000Z' },
  ])
})

test('/api/v1/finished-per-minute has the targets of other daemons, by their clock', async () => {
  const others = [{ name: 'b', at: NOW, serviceNow: NOW + 45, lastSuccess: NOW }]
  const found = [
    { target: 'b', minute: 0, status: 'ended', n: 3 },
    { target: 'b', minute: 1, status: 'rejected', n: 1 },
    { target: 'production', minute: 1, status: 'ended', n: 1 },
  ] as const
  const own = [shownTarget({ sync: POLLED })]
  const { body } = await perMinute('?minutes=3', own, { found: [...found], others })
  expect(body.targets).toMatchObject([
    { name: 'b', ended: [3, 0, null], rejected: [0, 1, null], other: [0, 0, null] },
    { name: 'production', ended: [0, 1, null] },
  ])
})

test('/api/v1/finished-per-minute has no target before any is known', async () => {
  const { status, body } = await perMinute('?minutes=3')
  expect(status).toBe(200)
  expect(body).toEqual({ since: '2026-09-21T14:11:00.000Z', step_seconds: 60, targets: [] })
})

test('/api/v1/finished-per-minute has an hour by default', async () => {
  const { body } = await perMinute('', [shownTarget({ sync: POLLED })])
  expect(body.targets[0].ended).toHaveLength(60)
})

test.each(['0', '1441', 'x', '1.5', ''])(
  '/api/v1/finished-per-minute?minutes=%s is refused with a sentence',
  async (minutes) => {
    expect(await perMinute(`?minutes=${minutes}`, [shownTarget()])).toMatchObject({
      status: 400,
      body: expect.objectContaining({ message: 'minutes must be a whole number from 1 to 1440' }),
    })
  },
)
