import { expect, test } from 'vitest'
import { countPerMinute } from '../../../src/web/finished-per-minute.ts'
import { POLLED, NOW } from '../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../kit/web/serve.ts'

type PerMinuteSource = Parameters<typeof countPerMinute>[0]
type Found = Awaited<ReturnType<PerMinuteSource['store']['finishedPerMinute']>>
type Given = { found: Found; others: Others; rows: PerMinuteSource['store']['rows'] }
type Others = ReturnType<PerMinuteSource['targets']['others']>

/** It is 14:13:20, and the last successful poll was five seconds ago. `found` is what the store counts. */
async function perMinute(
  minutes: number | undefined,
  own: ReturnType<typeof shownTarget>[] = [],
  { found = [], others = [], rows = async () => [] }: Partial<Given> = {},
) {
  const asked: unknown[] = []
  const finishedPerMinute = async (...args: unknown[]) => {
    asked.push(args)
    return found
  }
  const all = () => [...others, ...own].map(({ name }) => name)
  const targets = { all, own: () => own, others: () => others }
  const body = await countPerMinute({ targets, store: { finishedPerMinute, rows }, wall: () => NOW }, minutes)
  return { body, asked }
}

test('the finished calls by minute have what the store counts, by target, minute and status', async () => {
  const found = [
    { target: 'production', minute: 1, status: 'unanswered', n: 1 },
    { target: 'production', minute: 2, status: 'ended', n: 2 },
    { target: 'production', minute: 2, status: 'rejected', n: 1 },
  ] as const
  const { body, asked } = await perMinute(3, [shownTarget({ sync: POLLED })], { found: [...found] })
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

test('the finished calls by minute have null, not 0, for the minutes after the last successful poll', async () => {
  const old = shownTarget({ sync: { ...POLLED, lastSuccess: NOW - 120 }, pollAge: 120 })
  const fresh = shownTarget({ target: 'new', sync: {} })
  const found = [{ target: 'production', minute: 3, status: 'ended', n: 1 } as const]
  const { body } = await perMinute(4, [old, fresh], { found })
  expect(body.targets[0]!.ended).toEqual([0, 0, null, null])
  expect(body.targets[1]!.ended).toEqual([null, null, null, null])
})

test('the finished calls by minute have the times before the set-up and of outages, in whole minutes', async () => {
  const sync = { created: NOW - 1000, lastSuccess: NOW - 5, previousSuccess: NOW - 20 }
  const rows: Given['rows'] = async (statement) =>
    statement.includes('gaps')
      ? [{ name: 'production', began: NOW - 300, ended: NOW - 160 }]
      : [{ name: 'production', sync: JSON.stringify(sync), expired: null }]
  const { body } = await perMinute(20, [shownTarget({ sync: POLLED })], { rows })
  expect(body.targets[0]!.blind).toEqual([
    { since: '2026-09-21T13:54:00.000Z', until: '2026-09-21T13:57:00.000Z' },
    { since: '2026-09-21T14:08:00.000Z', until: '2026-09-21T14:11:00.000Z' },
  ])
})

test('the finished calls by minute have the targets of other daemons, by their clock', async () => {
  const others = [{ name: 'b', at: NOW, serviceNow: NOW + 45, lastSuccess: NOW }]
  const found = [
    { target: 'b', minute: 0, status: 'ended', n: 3 },
    { target: 'b', minute: 1, status: 'rejected', n: 1 },
    { target: 'production', minute: 1, status: 'ended', n: 1 },
  ] as const
  const own = [shownTarget({ sync: POLLED })]
  const { body } = await perMinute(3, own, { found: [...found], others })
  expect(body.targets).toMatchObject([
    { name: 'b', ended: [3, 0, null], rejected: [0, 1, null], other: [0, 0, null] },
    { name: 'production', ended: [0, 1, null] },
  ])
})

test('the finished calls by minute have no target before any is known', async () => {
  const { body } = await perMinute(3)
  expect(body).toEqual({ since: '2026-09-21T14:11:00.000Z', step_seconds: 60, targets: [] })
})

test('the finished calls by minute have an hour by default', async () => {
  const { body } = await perMinute(undefined, [shownTarget({ sync: POLLED })])
  expect(body.targets[0]!.ended).toHaveLength(60)
})
