import { describe, expect, test } from 'vitest'
import { sleep } from '../../src/clock/clock.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { completeLook, CREATED, seen } from '../ledger/seen.ts'
import { INTERVAL, watching } from './watching.ts'

const never = () => new Promise<never>(() => undefined)

describe('a mistake of our own', () => {
  const mistake = new TypeError('undefined is not a function')

  test('in counting what was seen ends the watch with it, and is not called trouble with the store', async () => {
    const { clock, service, storage, errors, reports } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    Object.assign(storage, { fails: true, mistake })
    await clock.advance(1)
    expect(errors).toEqual([mistake])
    expect(reports()).toEqual([])
  })

  test('in reading a page ends the watch with it, and is not called an answer of the service', async () => {
    const { clock, service, errors, reports } = watching()
    service.fails = () => mistake
    await clock.advance(1)
    expect(errors).toEqual([mistake])
    expect(reports()).toEqual([])
  })

  test('in reading a single call ends the watch with it', async () => {
    const { clock, service, errors } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    service.calls = []
    service.fails = (operation) => (operation === 'get' ? mistake : undefined)
    await clock.advance(20 * INTERVAL)
    expect(errors).toEqual([mistake])
  })
})

describe('watching a target', () => {
  test('a cycle runs at once and then each interval', async () => {
    const { clock, service, outcomes } = watching()
    await clock.advance(2 * INTERVAL + 1)
    expect(outcomes()).toEqual(['complete', 'complete', 'complete'])
    expect(service.asked).toEqual([1, 1, 1])
  })

  test('with an offset the first cycle waits for it', async () => {
    const { clock, service } = watching({ offset: 7 })
    await clock.advance(6.9)
    expect(service.asked).toEqual([])
    await clock.advance(0.2)
    expect(service.asked).toEqual([1])
  })

  test('what is seen is counted, and what nothing changes is not committed but for the end of the look', async () => {
    const { clock, service, book, events } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(INTERVAL + 1)
    expect(book.started()).toBe(1)
    expect(events.map(({ kind }) => kind)).toEqual(['committed', 'committed', 'cycle', 'committed', 'cycle'])
  })

  test('no two cycles overlap: a tick that falls into a running one is skipped', async () => {
    const { clock, service, outcomes, skipped } = watching({ timeout: 40 })
    const { listCalls } = service.client
    let slow = true
    service.client.listCalls = (page, signal) => (slow ? never() : listCalls(page, signal))
    await clock.advance(3)
    slow = false
    await clock.advance(INTERVAL * 2)
    expect([outcomes(), skipped()]).toEqual([[], 2])
    await clock.advance(INTERVAL)
    expect([outcomes(), skipped()]).toEqual([['failed', 'complete'], 2])
  })

  test('the timers tick also while a poll hangs', async () => {
    const { clock, service, ticks } = watching({ timeout: 100 })
    service.client.listCalls = never
    await clock.advance(INTERVAL * 2 + 1)
    expect(ticks).toEqual([0, INTERVAL, INTERVAL * 2])
  })

  test('a timer whose commit fails ends neither the timers nor the watch', async () => {
    const { clock, storage, ticks, outcomes } = watching()
    storage.fails = true
    await clock.advance(INTERVAL + 1)
    storage.fails = false
    await clock.advance(INTERVAL)
    expect(ticks).toEqual([0, INTERVAL, 2 * INTERVAL])
    expect(outcomes()).toEqual(['failed', 'failed', 'complete'])
  })

  test('a failed look is no empty one: no call is asked for, nothing is folded', async () => {
    const { clock, service, book, reports, folded } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    const before = folded.length
    service.fails = () => new ServiceError('server', 'the service answered 503', { status: 503 })
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'failed', problem: 'the service answered 503' })
    expect(folded.length).toBe(before)
    expect(book.state.open.size).toBe(1)
  })

  test('a failing page makes the look partial, and what was seen counts', async () => {
    const { clock, service, book, outcomes } = watching()
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('network', 'it was cut') : undefined)
    await clock.advance(1)
    expect(outcomes()).toEqual(['partial'])
    expect(book.started()).toBe(2)
    expect(book.state.facts.lastComplete).toBeUndefined()
  })

  test('what a partial look did not list is asked for, and never taken for lost', async () => {
    const { clock, service, book, outcomes } = watching()
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    await clock.advance(1)
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('network', 'it was cut') : undefined)
    service.asked.length = 0
    await clock.advance(3 * INTERVAL)
    expect(outcomes()).toEqual(['complete', 'partial', 'partial', 'partial'])
    expect(service.asked.filter((asked) => typeof asked === 'string')).toEqual(['c', 'd', 'c', 'd', 'c', 'd'])
    expect([book.lost(), book.state.open.size]).toEqual([0, 4])
  })

  test('a call that vanishes from the list is asked for before it is lost', async () => {
    const { clock, service, book } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    service.calls = []
    await clock.advance(INTERVAL)
    expect(service.asked).toEqual([1, 1, 'a'])
    expect(book.lost()).toBe(0)
    await clock.advance(INTERVAL)
    expect(book.lost()).toBe(1)
  })

  test('a finished call that was listed without participants is asked for once, in the same cycle', async () => {
    const { clock, service, book } = watching()
    service.calls = [seen('a', 'ended', { endedAt: CREATED, hasParticipantList: false })]
    await clock.advance(INTERVAL + 1)
    expect(service.asked).toEqual([1, 'a', 1])
    expect(book.finished()).toBe(1)
  })

  test('a look ends after what was asked for one by one, so that its windows hold what ended meanwhile', async () => {
    const { clock, service, book, folded } = watching()
    const [a, b] = ['a', 'b'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    service.calls = [a!, b!]
    await clock.advance(1)
    service.calls = [b!]
    service.client.getCall = async () => {
      await sleep(clock, 3)
      const now = clock.wall()
      return { now, host: now, remaining: undefined, call: seen('a', 'ended', { endedAt: now }) }
    }
    await clock.advance(INTERVAL + 3)
    const finished = book.state.calls.get('a')?.finish?.at
    expect([finished, folded.at(-1)?.end?.now]).toEqual([CREATED + INTERVAL + 3, CREATED + INTERVAL + 3])
  })

  test('when the store fails the cycle failed, nothing was counted, and the next one finds the same', async () => {
    const { clock, service, book, storage, reports } = watching()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    storage.fails = true
    await clock.advance(1)
    expect(reports()).toMatchObject([{ outcome: 'failed', storeFailed: true, problem: 'the disk is full' }])
    expect(book.started()).toBe(0)
    storage.fails = false
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'complete', storeFailed: false })
    expect(book.started()).toBe(1)
  })

  test('what a sweep had read when the store failed is read again, and counted', async () => {
    const { clock, service, book, storage, folded } = watching({ pageSize: 500 })
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => {
      storage.fails = page >= 7
      return listCalls(page, signal)
    }
    service.calls = Array.from({ length: 6000 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    await clock.advance(1)
    expect(book.started()).toBeLessThan(6000)
    service.client.listCalls = listCalls
    storage.fails = false
    await clock.advance(2 * INTERVAL)
    expect(book.started()).toBe(6000)
    expect(folded.length).toBeGreaterThan(6)
  })

  test('where the service knows none of the open calls, nor what it lists, the look is not good', async () => {
    const { clock, service, book, reports } = watching({ pageSize: 100 })
    service.calls = Array.from({ length: 8 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED }))
    await clock.advance(1)
    service.calls = []
    await clock.advance(2 * INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'partial', good: false })
    expect(book.lost()).toBe(0)
  })

  test('a look that is distrusted was no whole one: the next reads the whole list again', async () => {
    const { clock, service, reports } = watching({ pageSize: 10 })
    const open = Array.from({ length: 8 }, (_, i) => seen(`open ${i}`, 'ongoing', { initiatedAt: CREATED }))
    const over = Array.from({ length: 40 }, (_, i) => seen(`over ${i}`, 'ended', { endedAt: CREATED - i }))
    service.calls = [...open, ...over]
    await clock.advance(INTERVAL + 1)
    expect(reports().at(-1)?.outcome).toBe('incremental')
    service.calls = over
    service.fails = (operation) =>
      operation === 'get' ? new ServiceError('not_found', 'unknown', { status: 404 }) : undefined
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'partial', good: false })
    service.calls = [...open, ...over]
    service.fails = () => undefined
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'complete', good: true })
  })

  test('of calls that take long to ask for, those that were answered by the deadline count', async () => {
    const { clock, service, book } = watching({ pageSize: 100 })
    service.calls = Array.from({ length: 60 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED }))
    await clock.advance(1)
    service.calls = service.calls.map(({ id }) => seen(id, 'ended', { endedAt: CREATED + 1 }))
    const { listCalls, getCall } = service.client
    service.client.listCalls = async (page, signal) => ({
      ...(await listCalls(page, signal)),
      calls: [],
      keys: [],
      items: 0,
      total: 0,
    })
    service.client.getCall = async (id, signal) => {
      await sleep(clock, 8)
      return getCall(id, signal)
    }
    await clock.advance(5 * INTERVAL)
    expect(book.finished()).toBeGreaterThan(20)
    await clock.advance(10 * INTERVAL)
    expect(book.finished()).toBe(60)
  })

  test('after a restart the next whole look is due when it would have been without one', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - 1000 - i }))
    const { sightings, end } = completeLook(-850, ...calls)
    const list = { order: 'newest first', verified: true, total: 40, pageSize: 10, end: [] } as const
    const before = [{ sightings, end: { ...end!, list } }]
    const { clock, service, outcomes } = watching({ pageSize: 10, before })
    service.calls = calls
    await clock.advance(4 * INTERVAL + 1)
    expect(outcomes()).toEqual(['incremental', 'incremental', 'incremental', 'incremental', 'complete'])
  })

  test('a new call that both the increment and the sweep of one cycle show is one new call', async () => {
    const calls = Array.from({ length: 60 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - 1000 - i }))
    const { sightings, end } = completeLook(-890, ...calls)
    const list = { order: 'newest first', verified: true, total: 60, pageSize: 10, end: [] } as const
    const before = [{ sightings, end: { ...end!, list } }]
    const { clock, service, outcomes } = watching({ pageSize: 10, maxRequestsPerMinute: 24, before })
    service.calls = calls
    await clock.advance(INTERVAL - 1)
    for (let n = 1; n <= 3; n++) {
      service.calls = [seen(`new ${n}`, 'ended', { endedAt: CREATED + n }), ...service.calls]
      await clock.advance(INTERVAL)
    }
    expect(outcomes()).toEqual(['incremental', 'incremental', 'incremental', 'complete'])
    // The first page twice in the cycle in which the sweep begins, and never the other end.
    expect(service.asked).toEqual([1, 1, 1, 2, 3, 1, 3, 4, 5, 1, 5, 6, 7])
  })

  test('nothing is asked while requests are held back for longer than a cycle may take', async () => {
    const { clock, service, reports } = watching({ held: 3600 })
    await clock.advance(1)
    expect(service.asked).toEqual([])
    const problem = 'the service asked to wait (Retry-After): no request for another 3600 s'
    expect(reports()).toMatchObject([{ outcome: 'failed', good: false, problem }])
  })

  test('a long list is committed in chunks of five hundred calls, and concluded by the last', async () => {
    const { clock, service, folded, book } = watching({ pageSize: 100 })
    service.calls = Array.from({ length: 2450 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    await clock.advance(1)
    const sizes = folded.map(({ sightings }) => sightings.reduce((sum, { calls }) => sum + calls.length, 0))
    expect(sizes).toEqual([500, 500, 500, 500, 450, 0])
    expect(folded.map(({ end }) => end !== undefined)).toEqual([false, false, false, false, false, true])
    expect(book.started()).toBe(2450)
  })

  test('a first look of 100,000 calls ends as soon as the budget allows, and says meanwhile how far it is', async () => {
    const { clock, service, reports, book } = watching({ pageSize: 100, maxRequestsPerMinute: 400 })
    service.calls = Array.from({ length: 100_000 }, (_, i) =>
      seen(`call ${i}`, 'ended', { endedAt: CREATED + (i % 9) }),
    )
    const isGood = () => reports().some(({ good }) => good)
    // A thousand pages at 360 a minute, and the time until the next cycle begins.
    await clock.advance((1000 / 360) * 60 + 2 * INTERVAL)
    expect([isGood(), book.finished()]).toEqual([true, 100_000])
    const first = reports().findIndex(({ good }) => good)
    const told = reports()
      .slice(0, first)
      .flatMap(({ problem }) => problem ?? [])
    const done = told.map((problem) => Number(/being read: (\d+) of 1000 pages so far$/.exec(problem)?.[1]))
    expect(done.length).toBeGreaterThan(8)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
  })

  test('a list that the budget does not let it read within sweep_interval is told of, with what it takes', async () => {
    const { clock, service, reports } = watching({ pageSize: 1, maxRequestsPerMinute: 8 })
    service.calls = Array.from({ length: 61 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - i }))
    await clock.advance(1000)
    // One page a cycle is a sweep's half of the budget.
    expect(reports().at(-1)?.slowSweep).toEqual({ pages: 61, seconds: 61 * INTERVAL })
    expect(reports()[0]?.slowSweep).toBeUndefined()
  })

  test('a report says from which page on the service refuses its list', async () => {
    const { clock, service, reports } = watching({ pageSize: 4 })
    service.calls = Array.from({ length: 60 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    service.fails = (operation, page) =>
      operation === 'list' && Number(page) >= 7
        ? new ServiceError('refused', 'page too deep', { status: 400 })
        : undefined
    await clock.advance(INTERVAL + 1)
    expect(reports().map(({ outcome, good, refusedFrom }) => [outcome, good, refusedFrom])).toEqual([
      ['partial', false, 7],
      ['partial', true, 7],
    ])
  })

  test('a cycle ends at its deadline, four intervals on; what it has seen is committed', async () => {
    const { clock, service, book, reports } = watching({ timeout: 1000 })
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    const { listCalls } = service.client
    service.client.listCalls = (page, signal) => (page === 2 ? never() : listCalls(page, signal))
    await clock.advance(4 * INTERVAL - 0.1)
    expect(reports()).toEqual([])
    await clock.advance(0.2)
    expect(reports()).toMatchObject([{ outcome: 'partial', problem: 'the cycle reached its deadline after 1 page' }])
    expect(book.started()).toBe(2)
  })
})

describe('stopping', () => {
  test('no new cycle begins, and the watch completes at once when none runs', async () => {
    const { clock, service, stop$, isCompleted } = watching()
    await clock.advance(1)
    stop$.next()
    await clock.advance(100)
    expect(service.asked).toEqual([1])
    expect(isCompleted()).toBe(true)
  })

  test('a running cycle may end by itself, and is committed', async () => {
    const { clock, service, stop$, outcomes, isCompleted } = watching()
    const { listCalls } = service.client
    let answer: (() => void) | undefined
    service.client.listCalls = async (page, signal) => {
      await new Promise<void>((resolve) => (answer = resolve))
      return listCalls(page, signal)
    }
    await clock.advance(1)
    stop$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    answer?.()
    await clock.advance(1)
    expect([outcomes(), isCompleted()]).toEqual([['complete'], true])
  })

  test('a running cycle that is abandoned commits what it has seen, and aborts its request', async () => {
    const { clock, service, stop$, abandon$, book, outcomes, reports, isCompleted } = watching({ timeout: 1000 })
    service.calls = ['a', 'b', 'c'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    const { listCalls } = service.client
    let aborted = false
    service.client.listCalls = (page, signal) => {
      signal.addEventListener('abort', () => (aborted = page === 2))
      return page === 2 ? never() : listCalls(page, signal)
    }
    await clock.advance(1)
    stop$.next()
    abandon$.next()
    await clock.advance(1)
    expect([outcomes(), isCompleted(), aborted]).toEqual([['partial'], true, true])
    expect(reports().map(({ problem }) => problem)).toEqual([
      'the cycle was ended early (the target is let go of, or this daemon stops) after 1 page',
    ])
    expect(book.started()).toBe(2)
  })
})
