import { describe, expect, test } from 'vitest'
import { horizon } from '../../src/ledger/step.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { provenOrder } from '../../src/polling/list-order.ts'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { newLook, readList } from '../../src/polling/look.ts'
import type { Look } from '../../src/polling/page-reader.ts'
import type { CallPage } from '../../src/service/calls-client.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED, ledgerBook, seen } from '../ledger/seen.ts'
import { fakeService } from './fake-service.ts'

/** A call that ended `n` seconds before the ledger was set up; a negative one after. */
const call = (n: number) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED - n, endedAt: CREATED - n })
/** One that began as many seconds before, and goes on. */
const ongoing = (n: number) => seen(`call ${n}`, 'ongoing', { initiatedAt: CREATED - n })
/** Calls `from` to `to`, newest first. */
const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => call(from + i))
const BEFORE_ALL = 1_000_000

/** Looks at a fake list again and again, as cycles do, and counts what it sees. */
function looking({
  lookback = BEFORE_ALL,
  pageSize = 4,
  slice = 3,
  sweepInterval = 900,
  isWanted = ({ phase }: TrackedCall): boolean => phase === 'open',
} = {}) {
  const running = virtualClock(CREATED + 1)
  let waited = 0
  const clock = { ...running, monotonic: () => running.monotonic() + waited }
  const service = fakeService(clock, pageSize)
  const book = ledgerBook({ lookback, details: 'never' })
  const memory = newListMemory(undefined, undefined)
  const look = async () => {
    service.asked.length = 0
    const look: Look = newLook()
    const signal = new AbortController().signal
    const fetchPage = (page: number): Promise<CallPage> => service.client.listCalls(page, signal)
    const wanted = () => [...book.state.calls.values()].filter((call) => isWanted(call) && !look.listed.has(call.id))
    const options = { memory, state: book.state, clock, horizon: horizon(book.state.facts, lookback) }
    const pages = readList(look, { ...options, sweepInterval, slice, interval: 15, wanted, fetchPage })
    try {
      for await (const { now, host, calls, rejected } of pages) {
        book.see({ sightings: [{ source: 'list', now, host, calls, notFound: [], rejected }] })
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      look.problem = error
    }
    if (look.end !== undefined) book.see({ sightings: [], end: look.end })
    await clock.advance(15)
    return look
  }
  /** The time that an answer takes. */
  const wait = (seconds: number) => (waited += seconds)
  const kind = ({ end }: Look) => (end === undefined ? 'not good' : end.whole ? 'whole' : 'incremental')
  /** The kind of one look, and the pages that it asked for. */
  const next = async () => [kind(await look()), [...service.asked]] as const
  return { clock, wait, service, book, memory, look, next, remembered: () => book.state.calls.size }
}

describe('the first look', () => {
  test('reads page after page until as many calls were seen as there are', async () => {
    const { service, next, remembered } = looking()
    service.calls = numbered(1, 10)
    expect(await next()).toEqual(['whole', [1, 2, 3]])
    expect(remembered()).toBe(10)
  })

  test('of nothing is whole', async () => {
    const { next } = looking()
    expect(await next()).toEqual(['whole', [1]])
  })

  test('counts items that cannot be used, which are calls of the total too', async () => {
    const { service, look } = looking()
    service.calls = numbered(1, 2)
    service.says = { total: 3, totalPages: 1, items: 3, keys: ['call 1', 'call 2', 'no call'] }
    expect((await look()).end?.whole).toBe(true)
  })

  test('goes by the total where the service says too few pages', async () => {
    const { service, look, remembered } = looking()
    service.calls = numbered(1, 24)
    service.says = { totalPages: 2 }
    expect((await look()).end?.whole).toBe(true)
    expect(remembered()).toBe(24)
  })

  test('without a total goes on until a page is empty', async () => {
    const { service, next } = looking()
    service.calls = numbered(1, 8)
    service.says = { total: undefined, totalPages: undefined }
    expect(await next()).toEqual(['whole', [1, 2, 3]])
  })

  test('without an end is given up, and is not good', async () => {
    const { service, look } = looking()
    service.calls = numbered(1, 4)
    service.says = { total: undefined, totalPages: undefined }
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(1, signal)), page })
    const { end, problem } = await look()
    expect(end).toBeUndefined()
    expect(problem?.message).toContain('did not end')
    expect(service.asked.length).toBeLessThan(40)
  })

  test('that does not find all there is says so, and is not good', async () => {
    const { service, look } = looking()
    service.calls = numbered(1, 8)
    service.says = { total: 11, totalPages: 2 }
    const { end, problem } = await look()
    expect(end).toBeUndefined()
    expect(problem?.message).toBe('the service says that it lists 11 calls, but only 8 were found on its pages')
  })

  test('stops at a page wholly before the horizon, once ten times have come in order', async () => {
    const { service, next } = looking({ lookback: 11 })
    service.calls = numbered(1, 100)
    const [kind, asked] = await next()
    // The fourth page is past the horizon; the last is read for the end of the list, the first for what came in since.
    expect([kind, asked]).toEqual(['whole', [1, 2, 3, 4, 25, 1]])
  })

  test('is not misled by one call with a wrong date', async () => {
    const { service, next } = looking({ pageSize: 30 })
    const misdated = { ...call(20), initiatedAt: CREATED + 9000, endedAt: CREATED + 9000 }
    service.calls = [...numbered(1, 19), misdated, ...numbered(21, 60)]
    await next()
    service.calls = [call(0), ...service.calls]
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('turns to the other end as soon as the list proves to be oldest first', async () => {
    const { service, next, remembered } = looking({ lookback: 16, pageSize: 10 })
    service.calls = numbered(1, 60).toReversed()
    const [kind, asked] = await next()
    expect(kind).toBe('whole')
    expect(asked.slice(0, 4)).toEqual([1, 6, 5, 4])
    expect(remembered()).toBe(16)
  })

  test('finds a call that slipped over the boundary when another left the list', async () => {
    const { service, next, book } = looking()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 2 && service.asked.length === 2) service.calls = service.calls.filter(({ id }) => id !== 'call 1')
    }
    expect((await next())[0]).toBe('whole')
    expect(book.state.calls.has('call 5')).toBe(true)
  })

  test('finds a call that came in at the top meanwhile', async () => {
    const { service, next, book } = looking()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 3) service.calls = numbered(0, 12)
    }
    expect((await next())[0]).toBe('whole')
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('finds more calls than a page holds that came in at the top meanwhile', async () => {
    const { service, look, remembered } = looking()
    service.calls = numbered(1, 24)
    service.beforePage = (page) => {
      if (page === 4) service.calls = numbered(-5, 24)
    }
    expect((await look()).end?.whole).toBe(true)
    expect(remembered()).toBe(30)
  })

  test('finds everything in a list that is shuffled for each request', async () => {
    const { service, look, remembered } = looking()
    const calls = numbered(1, 24)
    let turn = 0
    service.beforePage = () => {
      turn += 1
      service.calls = calls.toSorted((a, b) => hash(`${turn} ${a.id}`) - hash(`${turn} ${b.id}`))
    }
    const { end } = await look()
    expect(end?.whole).toBe(true)
    expect(remembered()).toBe(24)
  })

  test('that takes longer than an interval goes on in the next cycle, one page back', async () => {
    const { wait, service, next, look } = looking()
    service.calls = numbered(1, 40)
    service.beforePage = () => void wait(6)
    expect(await next()).toEqual(['not good', [1, 2, 3]])
    expect((await look()).end).toBeUndefined()
    expect(service.asked).toEqual([3, 4, 5])
    expect((await next())[1].slice(0, 2)).toEqual([5, 6])
  })

  test('goes on where a failing page cut it off', async () => {
    const { service, next, look } = looking()
    service.calls = numbered(1, 12)
    service.fails = (_operation, page) => (page === 3 ? new ServiceError('server', 'it is down') : undefined)
    expect((await look()).problem?.kind).toBe('server')
    service.fails = () => undefined
    expect(await next()).toEqual(['whole', [2, 3]])
  })
})

describe('a later look', () => {
  async function afterTheFirst(calls = numbered(1, 40), options?: Parameters<typeof looking>[0]) {
    const world = looking(options)
    world.service.calls = calls
    await world.look()
    return world
  }

  test('reads the newest page alone where nothing is new', async () => {
    const { next } = await afterTheFirst()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test.each([
    [1, [1]],
    [3, [1]],
    [4, [1, 2]],
    [5, [1, 2]],
    [11, [1, 2, 3]],
  ])('reads on until a known call and the total explain %i new ones', async (count, pages) => {
    const { service, next, remembered } = await afterTheFirst()
    service.calls = numbered(1 - count, 40)
    expect(await next()).toEqual(['incremental', pages])
    expect(remembered()).toBe(40 + count)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('reads on for open calls, as long as that spares more requests than it costs', async () => {
    // Of open calls the second page has three, the third one; a lone one further back is asked for by itself.
    const open = new Set([1, 5, 7, 8, 10, 30])
    const calls = Array.from({ length: 40 }, (_, i) => (open.has(i + 1) ? ongoing(i + 1) : call(i + 1)))
    const { look, service } = await afterTheFirst(calls)
    const { listed, end } = await look()
    expect([service.asked, end?.whole]).toEqual([[1, 2], false])
    expect([...listed].toSorted()).toEqual(['call 1', 'call 5', 'call 7', 'call 8'])
  })

  test('does not read on for what is wanted of calls that are over: the list would not show it', async () => {
    const calls = numbered(1, 40)
    const { look, service } = await afterTheFirst(calls, { isWanted: () => true })
    await look()
    expect(service.asked).toEqual([1])
  })

  test('does not read on to a page that the service refuses', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { look, service, memory } = await afterTheFirst(calls)
    memory.refusedFrom = 3
    await look()
    expect(service.asked).toEqual([1, 2])
  })

  test('a page that fails while it reads on does not keep a sweep from going on', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { next, service } = await afterTheFirst(calls, { sweepInterval: 0 })
    let failures = 1
    service.fails = (_operation, page) =>
      page === 2 && failures-- > 0 ? new ServiceError('server', 'it is down') : undefined
    expect(await next()).toEqual(['incremental', [1, 2, 1, 2, 3]])
  })

  test('does not read on for open calls that should have been on a page that was read', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 4 ? ongoing(i + 1) : call(i + 1)))
    const { look, service } = await afterTheFirst(calls)
    // Three have vanished, and others stand in their places.
    service.calls = [calls[0]!, ...calls.slice(4), call(41), call(42), call(43)]
    await look()
    expect(service.asked).toEqual([1])
  })

  test('reads on for open calls of a list that is oldest first as well', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { look, service } = await afterTheFirst(calls.toReversed())
    await look()
    expect(service.asked).toEqual([10, 9, 8])
  })

  test('reads on for no more pages than a cycle may read', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => ongoing(i + 1))
    const { look, service } = await afterTheFirst(calls, { slice: 2 })
    await look()
    expect(service.asked).toEqual([1, 2, 3])
  })

  test('reads an oldest-first list from its end', async () => {
    const { service, next, remembered } = await afterTheFirst(numbered(1, 40).toReversed())
    expect(await next()).toEqual(['incremental', [10]])
    service.calls = numbered(-5, 40).toReversed()
    expect(await next()).toEqual(['incremental', [10, 12, 11, 10]])
    expect(remembered()).toBe(46)
    expect(await next()).toEqual(['incremental', [12]])
  })

  test('asks the other end where the total is too small, and what left there explains it', async () => {
    const { service, next } = await afterTheFirst()
    service.calls = numbered(0, 38)
    expect(await next()).toEqual(['incremental', [1, 10]])
    service.calls = numbered(-1, 37)
    expect(await next()).toEqual(['incremental', [1, 10]])
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('reads on for new calls that those which left would have hidden', async () => {
    const { service, next, book } = await afterTheFirst()
    service.calls = numbered(-5, 37)
    expect(await next()).toEqual(['incremental', [1, 2, 11]])
    expect(book.state.calls.has('call -5')).toBe(true)
    service.calls = numbered(-10, 35)
    expect((await next())[0]).toBe('incremental')
    expect(book.state.calls.has('call -10')).toBe(true)
  })

  test('reads on past a page that is all new, though as many left as are hidden behind it', async () => {
    const { service, next, book } = await afterTheFirst()
    service.calls = numbered(-4, 39)
    expect((await next())[0]).toBe('incremental')
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('takes no call for new that is before the horizon, and passed over in every look', async () => {
    const { next } = await afterTheFirst([...numbered(1, 2), ...numbered(50, 87)], { lookback: 20 })
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('that the total does not explain begins a sweep', async () => {
    const { service, next, book } = await afterTheFirst()
    service.calls = [...numbered(1, 20), seen('late', 'ended', { endedAt: CREATED - 20 }), ...numbered(21, 40)]
    const [kind, asked] = await next()
    expect(kind).toBe('whole')
    expect(asked).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(book.state.calls.has('late')).toBe(true)
  })

  test('without a total proves nothing, and reads the list to its end', async () => {
    const { service, look, book } = await afterTheFirst()
    service.calls = numbered(-5, 40)
    service.says = { total: undefined, totalPages: undefined }
    expect((await look()).end?.whole).toBe(true)
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('knows the list again after a restart', async () => {
    const { service, book, look } = await afterTheFirst()
    const restarted = newListMemory(book.state.facts.list, 0)
    service.asked.length = 0
    const options = { memory: restarted, state: book.state, clock: virtualClock(), horizon: 0, sweepInterval: 900 }
    const fetchPage = (page: number) => service.client.listCalls(page, new AbortController().signal)
    const again = newLook()
    for await (const _page of readList(again, { ...options, slice: 3, interval: 15, wanted: () => [], fetchPage }))
      continue
    expect([again.end?.whole, service.asked]).toEqual([false, [1]])
    expect(look).toBeDefined()
  })

  test('counts calls as new that a look before it saw, but could not prove', async () => {
    const { service, next } = await afterTheFirst()
    service.calls = numbered(-5, 40)
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('server', 'it is down') : undefined)
    expect((await next())[0]).toBe('not good')
    service.fails = () => undefined
    expect(await next()).toEqual(['incremental', [1, 2]])
  })

  test('forgets the order at the first contradiction, and learns it again', async () => {
    const { service, next, memory } = await afterTheFirst(numbered(1, 40), { pageSize: 10, slice: 10 })
    service.calls = numbered(1, 40).toReversed()
    expect((await next())[0]).toBe('whole')
    expect(provenOrder(memory.order)).toBe('oldest first')
    service.calls = numbered(0, 40).toReversed()
    expect(await next()).toEqual(['incremental', [4, 5, 4]])
  })
})

describe('a sweep', () => {
  test('is due once a sweep interval, and goes in slices beside the increments', async () => {
    const { service, next } = looking({ sweepInterval: 60, slice: 3 })
    service.calls = numbered(1, 40)
    const looks: (readonly [string, readonly (string | number)[]])[] = []
    for (let i = 0; i < 9; i++) looks.push(await next())
    expect(looks).toEqual([
      ['whole', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1, 1, 2, 3]],
      ['incremental', [1, 3, 4, 5]],
      ['incremental', [1, 5, 6, 7]],
      ['incremental', [1, 7, 8, 9]],
      ['whole', [1, 9, 10]],
    ])
  })

  test('finds a correction that no increment would see', async () => {
    const { clock, service, next, book } = looking({ sweepInterval: 60 })
    await next()
    await clock.advance(100)
    const after = (n: number, audio = 1) =>
      seen(`after ${n}`, 'ended', {
        initiatedAt: CREATED + 10 + n,
        endedAt: CREATED + 11 + n,
        callMinutes: { audio, video: undefined, total: undefined },
      })
    service.calls = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    expect((await next())[0]).toBe('whole')
    service.calls = service.calls.map((listed) => (listed.id === 'after 5' ? after(5, 3) : listed))
    expect(await next()).toEqual(['incremental', [1]])
    expect(book.state.calls.get('after 5')?.counted[0]).toBe(1)
    for (let i = 0; i < 9; i++) await next()
    expect(book.state.calls.get('after 5')?.counted[0]).toBe(3)
  })

  test('moves on however little it may read at a time', async () => {
    const { service, wait, next } = looking({ sweepInterval: 60, slice: 1 })
    service.calls = numbered(1, 24)
    await next()
    service.beforePage = () => void wait(8)
    const kinds: string[] = []
    for (let i = 0; i < 20; i++) kinds.push((await next())[0])
    expect(kinds.filter((kind) => kind === 'whole').length).toBeGreaterThan(1)
  })

  test('goes as far as the beginning of the longest call that is remembered', async () => {
    const { clock, service, look, book } = looking({ lookback: 1000, sweepInterval: 60, slice: 100 })
    const long = { initiatedAt: CREATED + 1, startedAt: CREATED + 1 }
    const minutes = (audio: number) => ({ callMinutes: { audio, video: 0, total: undefined } })
    service.calls = [seen('long', 'ongoing', { ...long, ...minutes(1) })]
    await look()
    await clock.advance(5000)
    const after = (n: number) =>
      seen(`after ${n}`, 'ended', { initiatedAt: CREATED + 10 + n, endedAt: CREATED + 11 + n })
    const short = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    const ended = (audio: number) => seen('long', 'ended', { ...long, ...minutes(audio), endedAt: CREATED + 5000 })
    service.calls = [...short, ended(80)]
    for (let i = 0; i < 6; i++) await look()
    service.calls = [...short, ended(90)]
    for (let i = 0; i < 10; i++) await look()
    expect(book.state.calls.get('long')?.counted[0]).toBe(90)
  })

  test('that is long begins early enough to end in time', async () => {
    const { clock, service, look } = looking({ sweepInterval: 600, slice: 3 })
    service.calls = numbered(1, 40)
    const wholes: { began: number; ended: number }[] = []
    for (let i = 0; i < 160; i++) {
      const { end } = await look()
      if (end?.whole) wholes.push({ began: end.began, ended: clock.wall() })
    }
    const gaps = wholes.slice(1).map(({ ended }, i) => ended - wholes[i]!.began)
    expect(wholes.length).toBeGreaterThan(3)
    expect(Math.max(...gaps.slice(1))).toBeLessThanOrEqual(615)
  })
})

describe('a service that refuses deep pages', () => {
  const refuseFrom = (depth: number) => (_operation: string, page: number | string) =>
    typeof page === 'number' && page >= depth
      ? new ServiceError('refused', `page ${page} exceeds the allowed maximum of 1000 records`, { status: 400 })
      : undefined

  test('newest first, is limited but good: what it shows counts', async () => {
    const { service, look, next, memory, remembered } = looking()
    service.calls = numbered(1, 100)
    service.fails = refuseFrom(5)
    expect((await look()).problem?.kind).toBe('refused')
    const { end, limited } = await look()
    expect([end?.whole, limited, memory.refusedFrom, remembered()]).toEqual([true, true, 5, 16])
    service.calls = numbered(0, 100)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('once only, had a passing trouble: the look goes on with that page', async () => {
    const { service, look, memory } = looking()
    service.calls = numbered(1, 24)
    service.fails = refuseFrom(3)
    expect((await look()).end).toBeUndefined()
    service.fails = () => undefined
    expect((await look()).limited).toBe(false)
    expect(memory.refusedFrom).toBeUndefined()
  })

  test('is not one whose deep pages fail in another way, however often', async () => {
    const { service, look, memory } = looking()
    service.calls = numbered(1, 24)
    service.fails = (_operation, page) => (Number(page) >= 3 ? new ServiceError('server', 'it is down') : undefined)
    for (let i = 0; i < 3; i++) {
      const { end, limited, problem } = await look()
      expect([end, limited, problem?.kind, memory.refusedFrom]).toEqual([undefined, false, 'server', undefined])
    }
  })

  test('oldest first, is not good: new calls would stay unseen', async () => {
    const { service, look, memory } = looking({ pageSize: 12 })
    service.calls = numbered(1, 100).toReversed()
    service.fails = refuseFrom(5)
    await look()
    const { end, problem } = await look()
    expect(end).toBeUndefined()
    expect(problem?.message).toContain('refuses page 10')
    expect(memory.refusedFrom).toBe(9)
  })
})

/** A number that looks drawn, and is the same each time. */
function hash(text: string): number {
  let value = 7
  for (const char of text) value = (Math.imul(value, 31) + char.codePointAt(0)!) | 0
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
}
