import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/service/service-error.ts'
import { running } from '../pipeline/running.ts'
import { numbered, polling } from './polling.ts'

const REFUSED = new ServiceError('refused', 'page 5 exceeds the allowed maximum of 1000 records', { status: 400 })
const HANGS = new ServiceError('timeout', 'no answer within 10 s')
const DOWN = new ServiceError('server', 'it is down', { status: 500 })

/** A list of a hundred calls, newest first, of which the service does not show the pages from the fifth on. */
function failing(error: ServiceError, options?: Parameters<typeof polling>[0]) {
  const world = polling({ pageSize: 10, ...options })
  world.service.calls = numbered(1, 100)
  world.service.fails = (_operation, page) => (Number(page) >= 5 ? error : undefined)
  return world
}

describe.each<[string, ServiceError, number]>([
  ['are refused', REFUSED, 2],
  ['hang', HANGS, 5],
  ['are answered with 500', DOWN, 5],
])('deep pages that %s', (_how, error, attempts) => {
  test('make the initial sync limited but successful after a few polls, and the pages before them count', async () => {
    const { service, poll, next, memory, tracked } = failing(error)
    for (let n = 1; n < attempts; n++) {
      const { success, problem } = await poll()
      expect([success, problem, memory.depth.refusedFrom]).toEqual([undefined, error, undefined])
    }
    const { success } = await poll()
    expect([success?.endsSweep, success?.limited, memory.depth.refusedFrom, tracked()]).toEqual([true, true, 5, 40])
    service.calls = numbered(0, 100)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('fail no poll of a list that was read to the horizon, and sweeps are not limited', async () => {
    const { poll, memory } = failing(error, { lookback: 12, sweepInterval: 300 })
    for (let n = 0; n < 100; n++) {
      const { success } = await poll()
      expect([success !== undefined, success?.limited === true]).toEqual([true, false])
    }
    expect(memory.sweep.last?.at).toBeGreaterThan(900)
  })

  test('are requested in few of the polls', async () => {
    const { service, poll, clock } = failing(error, { lookback: 12, sweepInterval: 300 })
    const began = clock.wall()
    let deep = 0
    for (let n = 0; n < 80; n++) {
      await poll()
      deep += service.asked.filter((page) => Number(page) >= 5).length
    }
    // Twice in each sweep.
    expect(deep).toBeLessThanOrEqual(2 * ((clock.wall() - began) / 300 + 1))
  })

  test('are read once the service shows them', async () => {
    const { service, poll, untilComplete, memory, tracked } = failing(error, { sweepInterval: 300 })
    for (let n = 0; n < 8; n++) await poll()
    service.fails = () => undefined
    await untilComplete()
    expect([memory.depth.refusedFrom, tracked()]).toEqual([undefined, 100])
  })

  test('of a list that grows there make polls unsuccessful, because new calls are on them', async () => {
    const { service, poll } = failing(error)
    service.calls = service.calls.toReversed()
    for (let n = 0; n < 8; n++) {
      const { success, problem } = await poll()
      expect([success, problem?.message]).toEqual([undefined, expect.stringContaining(error.message)])
    }
  })
})

test('deep pages that hang for longer than a poll may take do so as well', async () => {
  const { clock, service, reports, book } = await running({ interval: 5, retries: 4, pageSize: 10 })
  service.calls = numbered(1, 100)
  const { listCalls } = service.client
  service.client.listCalls = (page, signal) => (page >= 5 ? new Promise(() => undefined) : listCalls(page, signal))
  await clock.advance(6 * 40)
  expect(reports().find(({ successful }) => successful)).toMatchObject({ outcome: 'partial', refusedFrom: 5 })
  expect(book.state.calls.size).toBe(40)
})

test('a page that is refused once is read by the next poll', async () => {
  const { service, poll, memory, tracked } = failing(REFUSED)
  expect((await poll()).success).toBeUndefined()
  service.fails = () => undefined
  expect((await poll()).success?.limited).not.toBe(true)
  expect([memory.depth.refusedFrom, tracked()]).toEqual([undefined, 100])
})

test('pages that were shown before, and are refused, make the poll limited once two polls have seen that they alone are', async () => {
  const { service, wait, poll, memory } = failing(REFUSED)
  service.fails = () => undefined
  service.beforePage = () => void wait(2)
  expect((await poll()).success).toBeUndefined()
  expect(memory.catchUp?.next).toBeGreaterThan(5)
  service.fails = (_operation, page) => (Number(page) >= 5 ? REFUSED : undefined)
  const polls = []
  for (let n = 0; n < 6; n++) polls.push(await poll())
  expect(polls.map(({ success }) => [success !== undefined, success?.limited])).toContainEqual([true, true])
})

test.each([
  ['is down', DOWN],
  ['refuses the key', REFUSED],
])(
  'a service that %s for an hour amid a long reading refuses no page, and all of the list is read then',
  async (_how, error) => {
    const { service, poll, wait, memory, tracked } = failing(error)
    service.fails = () => undefined
    service.beforePage = () => void wait(5)
    await poll()
    expect(memory.catchUp?.next).toBe(4)
    service.fails = () => error
    for (let n = 0; n < 240; n++) expect(await poll()).toMatchObject({ success: undefined, pages: 0 })
    expect([memory.depth.refusedFrom, memory.catchUp?.next]).toEqual([undefined, 1])
    service.fails = () => undefined
    service.beforePage = () => undefined
    expect(await poll()).toMatchObject({ success: { endsSweep: true, limited: false } })
    expect(tracked()).toBe(100)
  },
)

test('an outage amid a long reading of a list that grows at its last page does not lead beyond that page', async () => {
  const { service, poll, wait, tracked } = failing(DOWN)
  service.calls = service.calls.toReversed()
  service.fails = () => undefined
  service.beforePage = () => void wait(5)
  await poll()
  service.fails = () => DOWN
  const asked = new Set<number | string>()
  for (let n = 0; n < 240; n++) {
    await poll()
    for (const page of service.asked) asked.add(page)
  }
  expect(Math.max(...[...asked].map(Number))).toBeLessThanOrEqual(11)
  service.fails = () => undefined
  service.beforePage = () => undefined
  expect(await poll()).toMatchObject({ success: { endsSweep: true, limited: false } })
  expect(tracked()).toBe(100)
})

test('a rate limit refuses no page, in either order', async () => {
  const LIMITED = new ServiceError('rate_limited', 'slow down', { status: 429 })
  for (const order of ['newest first', 'oldest first']) {
    const { service, poll, tracked, memory } = failing(LIMITED, { sweepInterval: 60 })
    if (order === 'oldest first') service.calls = service.calls.toReversed()
    for (let n = 0; n < 20; n++) expect(await poll()).toMatchObject({ success: undefined, problem: LIMITED })
    service.fails = () => undefined
    expect((await poll()).success?.limited).not.toBe(true)
    expect([memory.depth.refusedFrom, tracked()]).toEqual([undefined, 100])
  }
})

test.each([
  [1000, 11],
  [0, 11],
  [100, 'the end'],
])('a page that is refused after as many calls as a total of %i counts is %s', async (total, refusedFrom) => {
  const { service, poll, memory } = polling({ pageSize: Math.max(10, total / 10) })
  service.calls = numbered(1, total === 100 ? 100 : 1100)
  service.says = { total, totalPages: Math.ceil(total / Math.max(10, total / 10)) }
  service.fails = (_operation, page) => (Number(page) > 10 ? REFUSED : undefined)
  await poll()
  const { success } = await poll()
  expect([success === undefined, success?.limited === true, memory.depth.refusedFrom ?? 'the end']).toEqual([
    false,
    refusedFrom !== 'the end',
    refusedFrom,
  ])
})

test('a page amid a list that grows at its last page hides no new calls', async () => {
  const { service, poll, tracked, memory } = failing(DOWN)
  service.calls = service.calls.toReversed()
  service.fails = (_operation, page) => (page === 4 ? DOWN : undefined)
  for (let n = 0; n < 4; n++) expect((await poll()).success).toBeUndefined()
  const { success } = await poll()
  expect([success?.limited, tracked(), memory.depth.refusedFrom]).toEqual([true, 70, undefined])
})
