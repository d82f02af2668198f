import { defer, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { listing$, newLook } from '../../src/polling/listing.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED, seen } from '../ledger/seen.ts'
import { fakeService } from './fake-service.ts'

const call = (n: number) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED - n, endedAt: CREATED - n })
const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => call(from + i))

function look({ horizon = 0, pageSize = 2 } = {}) {
  const service = fakeService(virtualClock(CREATED), pageSize)
  const progress = newLook()
  const pages$ = listing$(progress, horizon, (page) =>
    defer(() => service.client.listCalls(page, new AbortController().signal)),
  )
  const read = () => lastValueFrom(pages$.pipe(toArray()), { defaultValue: [] })
  return { service, progress, read }
}

describe('a listing', () => {
  test('reads page after page until as many calls were seen as there are', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 5)
    await read()
    expect(service.asked).toEqual([1, 2, 3])
    expect(progress).toMatchObject({ complete: true, problem: undefined, pages: 3 })
    expect(progress.listed.size).toBe(5)
  })

  test('of nothing is complete', async () => {
    const { service, progress, read } = look()
    await read()
    expect(service.asked).toEqual([1])
    expect(progress.complete).toBe(true)
  })

  test('counts items that cannot be used, which are calls of the total too', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 2)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => {
      const answer = await listCalls(page, signal)
      return { ...answer, items: answer.items + 1, total: 3, totalPages: 1 }
    }
    await read()
    expect(progress.complete).toBe(true)
  })

  test('without a total goes on until a page is empty', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 4)
    service.says = { total: undefined, totalPages: undefined }
    await read()
    expect(service.asked).toEqual([1, 2, 3])
    expect(progress.complete).toBe(true)
  })

  test('without an end is given up, and is not complete', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 2)
    service.says = { total: undefined, totalPages: undefined }
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(1, signal)), page })
    await read()
    expect(service.asked.length).toBeLessThan(10)
    expect(progress.complete).toBe(false)
    expect(progress.problem?.message).toContain('did not end')
  })

  test('stops at a page wholly before the horizon, once the order is known', async () => {
    const { service, progress, read } = look({ horizon: CREATED - 12, pageSize: 4 })
    service.calls = numbered(1, 100)
    await read()
    expect(service.asked).toEqual([1, 2, 3, 4])
    expect(progress.complete).toBe(true)
  })

  test.each([
    ['before ten times came in order', { horizon: CREATED, pageSize: 4 }, numbered(1, 12), [1, 2, 3]],
    [
      'where one time is out of order',
      { horizon: CREATED, pageSize: 4 },
      [...numbered(2, 5), call(1), ...numbered(6, 16)],
      [1, 2, 3, 4],
    ],
  ])('does not believe in an order %s', async (_what, options, calls, asked) => {
    const { service, progress, read } = look(options)
    service.calls = calls
    await read()
    expect(service.asked).toEqual(asked)
    expect(progress.complete).toBe(true)
  })

  test('finds a call that slipped over the boundary when another left the list', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 6)
    service.beforePage = (page) => {
      if (page === 2 && service.asked.length === 2) service.calls = service.calls.filter(({ id }) => id !== 'call 1')
    }
    await read()
    expect(progress.listed).toContain('call 3')
    expect(progress.complete).toBe(true)
  })

  test('finds a call that came in at the top meanwhile', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(2, 6)
    service.beforePage = (page) => {
      if (page === 3) service.calls = numbered(1, 6)
    }
    await read()
    expect(progress.listed).toContain('call 1')
    expect(progress.complete).toBe(true)
  })

  test('that does not find all there is says so', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 4)
    service.says = { total: 7, totalPages: 2 }
    await read()
    expect(progress.complete).toBe(false)
    expect(progress.problem?.message).toBe('the service says that it lists 7 calls, but only 4 were found on its pages')
  })

  test('keeps what it saw before a page failed, and is not complete', async () => {
    const { service, progress, read } = look()
    service.calls = numbered(1, 6)
    service.fails = (_operation, page) =>
      page === 2 ? new ServiceError('server', 'it is down', { status: 503 }) : undefined
    expect(await read()).toHaveLength(1)
    expect(progress).toMatchObject({ complete: false, problem: { kind: 'server' } })
    expect(progress.listed.size).toBe(2)
  })
})
