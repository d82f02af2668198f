import { describe, expect, test } from 'vitest'
import { call, polling, numbered } from './polling.ts'

/** Polls a list that is much longer than the lookback. */
function long(options?: Parameters<typeof polling>[0]) {
  const world = polling({ lookback: 30, pageSize: 10, slice: 20, sweepInterval: 60, ...options })
  world.service.calls = numbered(1, 200)
  return world
}

/** The pages that the polls request, up to the next complete one. */
async function pagesOfSweep({ service, poll }: ReturnType<typeof long>): Promise<number[]> {
  const pages: number[] = []
  for (let polls = 0; polls < 50; polls++) {
    const { success } = await poll()
    pages.push(...service.asked.map(Number))
    if (success?.movesHorizon) return pages
  }
  throw new Error('no poll was complete')
}

describe('a sweep of a list that is longer than the lookback', () => {
  test('continues to the end until one has verified the order', async () => {
    const world = long()
    // Behind the last page, which is full, there is one that is empty.
    expect(Math.max(...(await pagesOfSweep(world)))).toBe(21)
    expect(world.isVerified()).toBe(true)
  })

  test('ends at the horizon, after reading the oldest end, once one has verified the order', async () => {
    const world = long()
    await world.untilComplete()
    const pages = await pagesOfSweep(world)
    expect([...new Set(pages)].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 20])
  })

  test('continues to the end again once the order was refuted', async () => {
    const world = long()
    await world.untilComplete()
    world.memory.traits = {
      ...world.memory.traits,
      orderRefutedAt: world.clock.wall() - 2 * 86_400,
      orderVerifiedAt: 0,
    }
    expect(await pagesOfSweep(world)).toContain(12)
  })

  test('that ended early keeps the total of the incremental polls', async () => {
    const world = long()
    await world.untilComplete()
    world.service.calls = numbered(-4, 200)
    await world.poll()
    await pagesOfSweep(world)
    expect(world.book.state.sync.list).toMatchObject({ total: 205, verified: true })
  })

  test('finds a call that was added before the horizon when another one left', async () => {
    const world = long()
    await world.untilComplete()
    // The total is the same, so no incremental poll can find the call.
    const n = world.newest()
    const late = { ...call(n), initiatedAt: call(100).initiatedAt }
    world.service.calls = [...numbered(1, 99), late, ...numbered(100, 199)]
    for (let polls = 0; polls < 20; polls++) await world.poll()
    expect(world.book.finished()).toBe(1)
  })

  test('that had to continue to the end reads the oldest end again', async () => {
    const world = long()
    await world.untilComplete()
    world.service.calls = [
      ...numbered(1, 99),
      { ...call(5000), initiatedAt: call(100).initiatedAt },
      ...numbered(100, 199),
    ]
    expect(await pagesOfSweep(world)).toContain(12)
    expect(world.book.state.sync.list?.oldestIds[0]).toBe('call 199')
  })

  test('finds a call that was added before the horizon, though an invalid item could explain the total', async () => {
    const world = long()
    const { listCalls } = world.service.client
    world.service.client.listCalls = async (page, signal) => {
      const listed = await listCalls(page, signal)
      return page === 1 ? { ...listed, calls: listed.calls.slice(0, -1), rejected: { no_status: 1 } } : listed
    }
    await world.untilComplete()
    const n = world.newest()
    const late = { ...call(n), initiatedAt: call(100).initiatedAt }
    world.service.calls = [...numbered(1, 99), late, ...numbered(100, 200)]
    for (let polls = 0; polls < 20; polls++) await world.poll()
    expect(world.book.finished()).toBe(1)
  })

  test('continues to the end if the total was assumed, not verified', async () => {
    const world = long()
    await world.untilComplete()
    world.book.state.sync = { ...world.book.state.sync, list: { ...world.book.state.sync.list!, verified: false } }
    expect(await pagesOfSweep(world)).toContain(12)
  })
})

describe('a list without a total', () => {
  const DAY = 86_400
  const without = () => {
    const world = long()
    world.service.says = { total: undefined, totalPages: undefined }
    return world
  }

  test('is read to the empty page once, and for a day after that only back to the horizon', async () => {
    const world = without()
    await world.untilComplete()
    expect(world.isVerified()).toBe(true)
    expect(Math.max(...(await pagesOfSweep(world)))).toBeLessThan(10)
  })

  test('is read to the empty page again after a day', async () => {
    const world = without()
    await world.untilComplete()
    await world.clock.advance(DAY)
    const pages: number[] = []
    for (let polls = 0; polls < 6; polls++) {
      await world.poll()
      pages.push(...world.service.asked.map(Number))
    }
    expect(Math.max(...pages)).toBe(21)
  })
})
