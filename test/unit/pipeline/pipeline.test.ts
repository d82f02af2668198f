import { describe, expect, test } from 'vitest'
import { sleep } from '../../../src/clock/clock.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import type { Commit } from '../../../src/store/store.ts'
import { runPoll } from '../../../src/pipeline/pipeline.ts'
import { completePoll, CREATED, KNOWN_LIST, seen } from '../../kit/ledger/seen.ts'
import { INTERVAL, running } from './running.ts'

/** When ticks were committed (seconds since the start). */
const ticksOf = (commits: readonly Commit[]) =>
  commits.flatMap(({ evaluated }) => (evaluated?.kind === 'tick' ? [evaluated.at - CREATED] : []))
const never = () => new Promise<never>(() => undefined)

describe('an internal error', () => {
  const bug = new TypeError('undefined is not a function')

  test('in counting ends the pipeline, and is not reported as a problem of the store', async () => {
    const { clock, service, storage, errors, reports } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    Object.assign(storage, { fails: true, bug })
    await clock.advance(1)
    expect(errors).toEqual([bug])
    expect(reports()).toEqual([])
  })

  test('in reading a page ends the pipeline, and is not reported as an answer of the service', async () => {
    const { clock, service, errors, reports } = await running()
    service.fails = () => bug
    await clock.advance(1)
    expect(errors).toEqual([bug])
    expect(reports()).toEqual([])
  })

  test('in reading a single call ends the pipeline', async () => {
    const { clock, service, errors } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    service.calls = []
    service.fails = (operation) => (operation === 'get' ? bug : undefined)
    await clock.advance(20 * INTERVAL)
    expect(errors).toEqual([bug])
  })
})

describe('the pipeline of a target', () => {
  test('polls start at once and then each interval', async () => {
    const { clock, service, outcomes } = await running()
    await clock.advance(2 * INTERVAL + 1)
    expect(outcomes()).toEqual(['complete', 'complete', 'complete'])
    expect(service.asked).toEqual([1, 1, 1])
  })

  test('the first poll waits for its offset', async () => {
    const { clock, service } = await running({ offset: 7 })
    await clock.advance(6.9)
    expect(service.asked).toEqual([])
    await clock.advance(0.2)
    expect(service.asked).toEqual([1])
  })

  test('observed changes are counted, and without one only the end of a poll is committed', async () => {
    const { clock, service, book, events } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(INTERVAL + 1)
    expect(book.started()).toBe(1)
    expect(events.map(({ kind }) => kind)).toEqual(['committed', 'committed', 'polled', 'committed', 'polled'])
  })

  test('polls do not overlap: one that is due while another runs is skipped', async () => {
    const { clock, service, outcomes, skipped } = await running({ timeout: 40 })
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

  test('a successful poll with answers of two seconds and longer reports how long they take', async () => {
    const { clock, service, reports } = await running()
    const { listCalls } = service.client
    let seconds = 1
    service.client.listCalls = async (page, signal) => {
      await sleep(clock, seconds)
      return listCalls(page, signal)
    }
    await clock.advance(INTERVAL - 1)
    seconds = 4
    await clock.advance(INTERVAL)
    expect(reports().map(({ successful, slowAnswers }) => [successful, slowAnswers])).toEqual([
      [true, undefined],
      [true, 4],
    ])
  })

  test('the ticks continue also while a poll hangs', async () => {
    const { clock, service, commits } = await running({ timeout: 100 })
    service.client.listCalls = never
    await clock.advance(INTERVAL * 5 + 1)
    // A poll age of more than two intervals is kept.
    expect(ticksOf(commits)).toEqual([3 * INTERVAL, 4 * INTERVAL, 5 * INTERVAL])
  })

  test('a tick whose commit fails ends neither the ticks nor the pipeline', async () => {
    const { clock, storage, service, commits, outcomes } = await running()
    service.fails = () => new ServiceError('server', 'the service answered 503', { status: 503 })
    storage.fails = true
    await clock.advance(3 * INTERVAL + 1)
    storage.fails = false
    await clock.advance(2 * INTERVAL)
    expect(ticksOf(commits)).toEqual([4 * INTERVAL, 5 * INTERVAL])
    service.fails = () => undefined
    await clock.advance(INTERVAL)
    expect(outcomes().slice(-2)).toEqual(['failed', 'complete'])
  })

  test('a failed poll is no empty list: no call is requested, nothing is committed', async () => {
    const { clock, service, book, reports, commits } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    const before = commits.length
    service.fails = () => new ServiceError('server', 'the service answered 503', { status: 503 })
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'failed', problem: 'the service answered 503' })
    expect(commits.length).toBe(before)
    expect(book.state.open.size).toBe(1)
  })

  test('a failing page makes the poll partial, and the other pages count', async () => {
    const { clock, service, book, outcomes } = await running()
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('network', 'it was cut') : undefined)
    await clock.advance(1)
    expect(outcomes()).toEqual(['partial'])
    expect(book.started()).toBe(2)
    expect(book.state.sync.lastSweepBegan).toBeUndefined()
  })

  test('a call that a partial poll did not list is requested, and not lost', async () => {
    const { clock, service, book, outcomes } = await running()
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    await clock.advance(1)
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('network', 'it was cut') : undefined)
    service.asked.length = 0
    await clock.advance(3 * INTERVAL)
    expect(outcomes()).toEqual(['complete', 'partial', 'partial', 'partial'])
    expect(service.asked.filter((asked) => typeof asked === 'string')).toEqual(['c', 'd', 'c', 'd', 'c', 'd'])
    expect([book.lost(), book.state.open.size]).toEqual([0, 4])
  })

  test('a call that vanishes from the list is requested before it is lost', async () => {
    const { clock, service, book } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    await clock.advance(1)
    service.calls = []
    service.asked.length = 0
    await clock.advance(INTERVAL)
    expect(service.asked).toEqual([1, 'a'])
    expect(book.lost()).toBe(0)
    await clock.advance(INTERVAL)
    expect(book.lost()).toBe(1)
  })

  test('a finished call that was listed without participants is requested once, in the same poll', async () => {
    const { clock, service, book } = await running()
    service.calls = [seen('a', 'ended', { endedAt: CREATED, hasParticipantList: false })]
    await clock.advance(INTERVAL + 1)
    expect(service.asked).toEqual([1, 2, 'a', 1])
    expect(book.finished()).toBe(1)
  })

  test('a poll ends after its follow-ups, so that its windows include calls that ended meanwhile', async () => {
    const { clock, service, target, commits } = await running()
    const [a, b] = ['a', 'b'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    service.calls = [a!, b!]
    await clock.advance(1)
    service.calls = [b!]
    service.client.getCall = async () => {
      await sleep(clock, 3)
      const now = clock.wall()
      return { serviceTime: now, hostTime: now, limit: undefined, calls: [seen('a', 'ended', { endedAt: now })] }
    }
    await clock.advance(INTERVAL + 3)
    const finished = target.ledger.calls.get('a')?.finish?.at
    expect([finished, commits.at(-1)?.evaluated]).toMatchObject([
      CREATED + INTERVAL + 3,
      { now: CREATED + INTERVAL + 3 },
    ])
  })

  test('a poll fails and counts nothing when the store fails, and the next one counts it', async () => {
    const { clock, service, book, storage, reports } = await running()
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    storage.fails = true
    await clock.advance(1)
    expect(reports()).toMatchObject([{ outcome: 'failed', fault: 'store', problem: 'the disk is full' }])
    expect(book.started()).toBe(0)
    storage.fails = false
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'complete', problem: undefined })
    expect(book.started()).toBe(1)
  })

  test('a poll is reported with the health of the target before it', async () => {
    const { clock, service, events } = await running()
    await clock.advance(1)
    service.fails = () => new ServiceError('network', 'no answer')
    await clock.advance(2 * INTERVAL)
    const before = events.flatMap((event) => (event.kind === 'polled' ? [event.before] : []))
    expect(before.map(({ successful, problem }) => [successful, problem])).toEqual([
      [false, undefined],
      [true, undefined],
      [false, 'no answer'],
    ])
  })

  test('a poll that has ended leaves no timer', async () => {
    const { clock, service, target } = await running({ offset: 1000 })
    const options = { target, client: service.client, random: () => 0, mask: (text: string) => text }
    const before = clock.waiting()
    const events = await Array.fromAsync(runPoll(options, new AbortController().signal))
    expect(events.at(-1)?.kind).toBe('polled')
    expect(clock.waiting()).toBe(before)
  })

  test('pages that a sweep had read when the store failed are read again, and counted', async () => {
    const { clock, service, book, storage, commits } = await running({ pageSize: 100 })
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => {
      storage.fails = page >= 33
      return listCalls(page, signal)
    }
    service.calls = Array.from({ length: 6000 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    await clock.advance(1)
    expect(book.started()).toBeLessThan(6000)
    service.client.listCalls = listCalls
    storage.fails = false
    await clock.advance(2 * INTERVAL)
    expect(book.started()).toBe(6000)
    expect(commits.length).toBeGreaterThan(6)
  })

  test('a poll is not successful if Get Call knows neither the open calls nor those in the list', async () => {
    const { clock, service, book, reports } = await running({ pageSize: 100 })
    service.calls = Array.from({ length: 8 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED }))
    await clock.advance(1)
    service.calls = []
    await clock.advance(2 * INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'partial', successful: false })
    expect(book.lost()).toBe(0)
  })

  test('after a poll whose answers contradict each other the next one reads the whole list again', async () => {
    const { clock, service, reports } = await running({ pageSize: 10 })
    const open = Array.from({ length: 8 }, (_, i) => seen(`open ${i}`, 'ongoing', { initiatedAt: CREATED }))
    const over = Array.from({ length: 40 }, (_, i) => seen(`over ${i}`, 'ended', { endedAt: CREATED - i }))
    service.calls = [...open, ...over]
    await clock.advance(INTERVAL + 1)
    expect(reports().at(-1)?.outcome).toBe('incremental')
    service.calls = over
    service.fails = (operation) =>
      operation === 'get' ? new ServiceError('not_found', 'unknown', { status: 404 }) : undefined
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'partial', successful: false })
    service.calls = [...open, ...over]
    service.fails = () => undefined
    await clock.advance(INTERVAL)
    expect(reports().at(-1)).toMatchObject({ outcome: 'complete', successful: true })
  })

  test('follow-ups that were answered before the deadline count', async () => {
    const { clock, service, book } = await running({ pageSize: 100 })
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

  test('after a restart the next complete sweep is due when it would have been without one', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - 1000 - i }))
    const { answers, success } = completePoll(-850, ...calls)
    const list = { ...KNOWN_LIST, joint: calls.map(({ id }) => id) }
    const before = [{ answers, success: { ...success!, list } }]
    const { clock, service, outcomes } = await running({ pageSize: 10, before })
    service.calls = calls
    await clock.advance(4 * INTERVAL + 1)
    expect(outcomes()).toEqual(['incremental', 'incremental', 'incremental', 'incremental', 'complete'])
  })

  test('a new call that both the incremental reading and the sweep of a poll show is one new call', async () => {
    const calls = Array.from({ length: 60 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - 1000 - i }))
    const { answers, success } = completePoll(-890, ...calls)
    const list = { ...KNOWN_LIST, joint: calls.map(({ id }) => id) }
    const before = [{ answers, success: { ...success!, list } }]
    const { clock, service, outcomes } = await running({ pageSize: 10, maxRequestsPerMinute: 24, before })
    service.calls = calls
    await clock.advance(INTERVAL - 1)
    for (let n = 1; n <= 3; n++) {
      service.calls = [seen(`new ${n}`, 'ended', { endedAt: CREATED + n }), ...service.calls]
      await clock.advance(INTERVAL)
    }
    expect(outcomes()).toEqual(['incremental', 'incremental', 'incremental', 'complete'])
    // Three pages of the sweep in each poll, from where it has joined; the eighth shows that the list ends.
    expect(service.asked).toEqual([1, 1, 2, 3, 4, 1, 5, 6, 7, 1, 8])
  })

  test('follow-ups that a deadline prevented are made by the next polls', async () => {
    const open = Array.from({ length: 24 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - 10 }))
    const { clock, service } = await running({ before: [completePoll(0, ...open)], timeout: 100 })
    const { getCall } = service.client
    for (const call of open) service.known.set(call.id, call)
    service.client.getCall = async (id, signal) => {
      await sleep(clock, 40)
      return getCall(id, signal)
    }
    await clock.advance(30 * INTERVAL)
    expect(new Set(service.asked.filter((asked) => typeof asked === 'string')).size).toBe(24)
  })

  test('a page that was not committed does not affect the next poll', async () => {
    const { clock, service, storage, target } = await running({ before: [completePoll(0)], pageSize: 10 })
    await clock.advance(20)
    storage.fails = true
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED + 20, startedAt: CREATED + 21 })]
    await clock.advance(INTERVAL)
    storage.fails = false
    service.calls = [seen('a', 'initiated', { initiatedAt: CREATED + 20 })]
    await clock.advance(INTERVAL)
    expect(target.ledger.calls.size).toBe(1)
  })

  test('no request is sent during a rate limit pause that is longer than a poll may take', async () => {
    const { clock, service, reports } = await running({ held: 3600 })
    await clock.advance(1)
    expect(service.asked).toEqual([])
    const problem = 'the service asked to wait (Retry-After): no request for another 3600 s'
    expect(reports()).toMatchObject([{ outcome: 'failed', successful: false, problem }])
  })

  test('a long list is committed in chunks of five hundred calls, of which the last ends the poll', async () => {
    const { clock, service, commits, book } = await running({ pageSize: 100 })
    service.calls = Array.from({ length: 2450 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    await clock.advance(1)
    expect(commits.map(({ ledger }) => ledger.calls.size)).toEqual([500, 500, 500, 500, 450, 0])
    expect(commits.map(({ evaluated }) => evaluated !== undefined)).toEqual([false, false, false, false, false, true])
    expect(book.started()).toBe(2450)
  })

  test('an initial sync of 9000 calls ends as soon as the rate limiter allows, and reports its progress', async () => {
    const { clock, service, reports, book } = await running({ pageSize: 100, maxRequestsPerMinute: 120 })
    service.calls = Array.from({ length: 9000 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED + (i % 9) }))
    const isGood = () => reports().some(({ successful }) => successful)
    // 90 pages at 108 a minute, and the time until the next cycle begins.
    await clock.advance((90 / 108) * 60 + 2 * INTERVAL)
    expect([isGood(), book.finished()]).toEqual([true, 9000])
    const first = reports().findIndex(({ successful }) => successful)
    const problems = reports()
      .slice(0, first)
      .flatMap(({ problem }) => problem ?? [])
    const done = problems.map((problem) => Number(/being read: (\d+) of 90 pages so far$/.exec(problem)?.[1]))
    expect(done.length).toBeGreaterThan(1)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
  })

  test('a list that the rate limiter cannot read within sweep_interval is reported, with the time that it takes', async () => {
    const { clock, service, reports } = await running({ pageSize: 1, maxRequestsPerMinute: 8 })
    service.calls = Array.from({ length: 61 }, (_, i) => seen(`call ${i}`, 'ended', { endedAt: CREATED - i }))
    await clock.advance(1000)
    // One page a cycle is a sweep's half of the rate limiter; the last one shows that the list ends.
    expect(reports().at(-1)?.slowSweep).toEqual({ pages: 62, seconds: 62 * INTERVAL, polls: 62 })
    expect(reports()[0]?.slowSweep).toBeUndefined()
  })

  test('a poll reports from which page on the service refuses its list', async () => {
    const { clock, service, reports } = await running({ pageSize: 4 })
    service.calls = Array.from({ length: 60 }, (_, i) => seen(`call ${i}`, 'ongoing', { initiatedAt: CREATED - i }))
    service.fails = (operation, page) =>
      operation === 'list' && Number(page) >= 7
        ? new ServiceError('refused', 'page too deep', { status: 400 })
        : undefined
    await clock.advance(INTERVAL + 1)
    expect(reports().map(({ outcome, successful, refusedFrom }) => [outcome, successful, refusedFrom])).toEqual([
      // It may have failed for once.
      ['partial', false, undefined],
      ['partial', true, 7],
    ])
  })

  test('a poll ends at its deadline after four intervals, and commits what it has read', async () => {
    const { clock, service, book, reports } = await running({ timeout: 1000 })
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    const { listCalls } = service.client
    service.client.listCalls = (page, signal) => (page === 2 ? never() : listCalls(page, signal))
    await clock.advance(4 * INTERVAL - 0.1)
    expect(reports()).toEqual([])
    await clock.advance(0.2)
    expect(reports()).toMatchObject([{ outcome: 'partial', problem: 'the poll reached its deadline after 1 page' }])
    expect(book.started()).toBe(2)
  })
})

describe('the pipeline, when it stops,', () => {
  test('starts no new poll, and completes at once if none runs', async () => {
    const { clock, service, draining$, isCompleted } = await running()
    await clock.advance(1)
    draining$.next()
    await clock.advance(100)
    expect(service.asked).toEqual([1])
    expect(isCompleted()).toBe(true)
  })

  test('lets a running poll end, and commits it', async () => {
    const { clock, service, draining$, outcomes, isCompleted } = await running()
    const { listCalls } = service.client
    let answer: (() => void) | undefined
    service.client.listCalls = async (page, signal) => {
      await new Promise<void>((resolve) => (answer = resolve))
      return listCalls(page, signal)
    }
    await clock.advance(1)
    draining$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    answer?.()
    await clock.advance(1)
    expect([outcomes(), isCompleted()]).toEqual([['complete'], true])
  })

  test('commits what an aborted poll has read, and aborts its request', async () => {
    const { clock, service, draining$, aborted$, book, outcomes, reports, isCompleted } = await running({
      timeout: 1000,
    })
    service.calls = ['a', 'b', 'c'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    const { listCalls } = service.client
    let aborted = false
    service.client.listCalls = (page, signal) => {
      signal.addEventListener('abort', () => (aborted = page === 2))
      return page === 2 ? never() : listCalls(page, signal)
    }
    await clock.advance(1)
    draining$.next()
    aborted$.next()
    await clock.advance(1)
    expect([outcomes(), isCompleted(), aborted]).toEqual([['partial'], true, true])
    expect(reports().map(({ problem }) => problem)).toEqual([
      'the poll was ended early (the target is released, or this daemon stops) after 1 page',
    ])
    expect(book.started()).toBe(2)
  })

  test('commits and reports nothing more after it was unsubscribed', async () => {
    const { clock, service, target, commits, unsubscribe } = await running({ timeout: 1000 })
    service.calls = ['a', 'b', 'c', 'd'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED }))
    const { listCalls } = service.client
    service.client.listCalls = (page, signal) => (page === 2 ? never() : listCalls(page, signal))
    await clock.advance(1)
    unsubscribe()
    await clock.advance(100)
    expect([commits, target.record.current().problem]).toEqual([[], undefined])
  })
})
