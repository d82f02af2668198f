import { describe, expect, test } from 'vitest'
import { call, polling, numbered } from './polling.ts'

/** A list much longer than the lookback, of which callwatch has read as much as these looks do. */
function long(options?: Parameters<typeof polling>[0]) {
  const world = polling({ lookback: 30, pageSize: 10, slice: 20, sweepInterval: 60, ...options })
  world.service.calls = numbered(1, 200)
  return world
}

/** The pages that were asked for in the looks up to the next whole one. */
async function pagesOfSweep({ service, poll }: ReturnType<typeof long>): Promise<number[]> {
  const pages: number[] = []
  for (let looks = 0; looks < 50; looks++) {
    const { end } = await poll()
    pages.push(...service.asked.map(Number))
    if (end?.complete) return pages
  }
  throw new Error('no look was whole')
}

describe('a sweep of a list that is longer than the lookback', () => {
  test('goes on to the end until one has proven the order', async () => {
    const world = long()
    // Behind the last page, which is full, there is one that is empty.
    expect(Math.max(...(await pagesOfSweep(world)))).toBe(21)
    expect(world.isProven()).toBe(true)
  })

  test('ends at the horizon from then on, once the far end was asked', async () => {
    const world = long()
    await world.untilWhole()
    const pages = await pagesOfSweep(world)
    expect([...new Set(pages)].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 20])
  })

  test('goes on to the end again once the order was refuted', async () => {
    const world = long()
    await world.untilWhole()
    world.memory.facts = { ...world.memory.facts, orderRefutedAt: world.clock.wall() - 2 * 86_400, orderVerifiedAt: 0 }
    expect(await pagesOfSweep(world)).toContain(12)
  })

  test('that ended early leaves the total as the increments have it', async () => {
    const world = long()
    await world.untilWhole()
    world.service.calls = numbered(-4, 200)
    await world.poll()
    await pagesOfSweep(world)
    expect(world.book.state.sync.list).toMatchObject({ total: 205, verified: true })
  })

  test('finds an old call with a late place that came in as another one left', async () => {
    const world = long()
    await world.untilWhole()
    // The total is what it was: no increment can tell that one was put in behind the horizon.
    const n = world.newest()
    const late = { ...call(n), initiatedAt: call(100).initiatedAt }
    world.service.calls = [...numbered(1, 99), late, ...numbered(100, 199)]
    for (let looks = 0; looks < 20; looks++) await world.poll()
    expect(world.book.finished()).toBe(1)
  })

  test('that had to go on to the end knows the far end anew, and the next one ends at the horizon', async () => {
    const world = long()
    await world.untilWhole()
    world.service.calls = [
      ...numbered(1, 99),
      { ...call(5000), initiatedAt: call(100).initiatedAt },
      ...numbered(100, 199),
    ]
    expect(await pagesOfSweep(world)).toContain(12)
    expect(world.book.state.sync.list?.end[0]).toBe('call 199')
  })

  test('finds an old call with a late place, though an item that cannot be used explains the total as well', async () => {
    const world = long()
    const { listCalls } = world.service.client
    world.service.client.listCalls = async (page, signal) => {
      const listed = await listCalls(page, signal)
      return page === 1 ? { ...listed, calls: listed.calls.slice(0, -1), rejected: { no_status: 1 } } : listed
    }
    await world.untilWhole()
    const n = world.newest()
    const late = { ...call(n), initiatedAt: call(100).initiatedAt }
    world.service.calls = [...numbered(1, 99), late, ...numbered(100, 200)]
    for (let looks = 0; looks < 20; looks++) await world.poll()
    expect(world.book.finished()).toBe(1)
  })

  test('goes on to the end where the total was only reckoned', async () => {
    const world = long()
    await world.untilWhole()
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

  test('is read to the empty page once, and only back to the horizon for a day after that', async () => {
    const world = without()
    await world.untilWhole()
    expect(world.isProven()).toBe(true)
    expect(Math.max(...(await pagesOfSweep(world)))).toBeLessThan(10)
  })

  test('is read to the empty page again after a day', async () => {
    const world = without()
    await world.untilWhole()
    await world.clock.advance(DAY)
    const pages: number[] = []
    for (let looks = 0; looks < 6; looks++) {
      await world.poll()
      pages.push(...world.service.asked.map(Number))
    }
    expect(Math.max(...pages)).toBe(21)
  })
})
