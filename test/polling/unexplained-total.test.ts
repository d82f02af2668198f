import { describe, expect, test } from 'vitest'
import { seen } from '../ledger/seen.ts'
import { polling, numbered } from './polling.ts'

/** A list of about forty calls that was read once. */
async function afterTheFirst(size = 40, options?: Parameters<typeof polling>[0]) {
  const world = polling(options)
  world.service.calls = numbered(1, size)
  await world.poll()
  return world
}

describe('a total that new calls do not explain', () => {
  test('costs one poll if the next one explains it', async () => {
    const { service, next, has } = await afterTheFirst()
    // The total is newer than the page.
    service.says = { total: 41, totalPages: 11 }
    expect(await next()).toEqual(['unsuccessful', [1]])
    service.says = {}
    service.calls = numbered(0, 40)
    expect(await next()).toEqual(['incremental', [1]])
    expect(has(0)).toBe(true)
  })

  test('has no effect if it is the old one again in the next poll', async () => {
    const { service, next } = await afterTheFirst()
    service.says = { total: 41, totalPages: 11 }
    for (let times = 0; times < 3; times++) {
      service.says = { total: 41, totalPages: 11 }
      expect(await next()).toEqual(['unsuccessful', [1]])
      service.says = {}
      expect(await next()).toEqual(['incremental', [1]])
    }
  })

  test('is explained by calls that were added at the oldest end, with one more page', async () => {
    const { service, next } = await afterTheFirst(38, { lookback: 1000 })
    service.calls = [...numbered(1, 38), ...numbered(5000, 5000)]
    expect(await next()).toEqual(['unsuccessful', [1]])
    expect(await next()).toEqual(['incremental', [1, 10]])
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('must come twice before the whole list is read, over several polls if it is long', async () => {
    const { service, wait, next, has } = await afterTheFirst()
    service.calls = [
      ...numbered(1, 20),
      { ...numbered(0, 0)[0]!, initiatedAt: numbered(20, 20)[0]!.initiatedAt },
      ...numbered(21, 40),
    ]
    service.beforePage = () => void wait(3)
    expect((await next())[1]).toEqual([1])
    expect((await next())[1]).toEqual([1, 11])
    expect(await next()).toEqual(['unsuccessful', [1, 11, 1, 2, 3]])
    expect(await next()).toEqual(['unsuccessful', [1, 11, 3, 4, 5]])
    expect(await next()).toEqual(['unsuccessful', [1, 11, 5, 6, 7]])
    // The missing call was found, so the total is explained.
    expect([has(0), await next()]).toEqual([true, ['incremental', [1]]])
  })

  test('is not requested again if the service no longer sends a total: the list is read to its end', async () => {
    const { service, next } = await afterTheFirst()
    service.says = { total: 47, totalPages: 12 }
    expect((await next())[0]).toBe('unsuccessful')
    service.says = { total: undefined, totalPages: undefined }
    for (let polls = 0; polls < 2; polls++) expect((await next())[0]).toBe('complete')
  })

  test('makes the poll read to the end, older pages than the horizon included, because the missing call may be anywhere', async () => {
    const { service, poll, next, untilComplete, newest, has } = polling({ lookback: 30, pageSize: 10, slice: 2 })
    service.calls = numbered(1, 100)
    await untilComplete()
    const n = newest()
    service.calls = [
      ...numbered(1, 85),
      { ...numbered(n, n)[0]!, initiatedAt: numbered(85, 85)[0]!.initiatedAt },
      ...numbered(86, 100),
    ]
    for (let polls = 0; polls < 2; polls++) expect((await poll()).success).toBeUndefined()
    expect([(await next())[0], has(n)]).toEqual(['complete', true])
  })

  test('does not arise if an evicted call is listed again without its times', async () => {
    const { service, poll, untilComplete, newest, book } = polling({
      lookback: 600,
      pageSize: 10,
      slice: 2,
      sweepInterval: 90,
    })
    service.calls = numbered(1, 80)
    await untilComplete()
    const evicted = newest()
    service.calls = [...numbered(evicted, evicted), ...numbered(1, 80)]
    for (let polls = 0; polls < 60; polls++) await poll()
    expect([...book.history.keys()]).toEqual([`call ${evicted}`])
    const n = newest()
    service.calls = [...numbered(n, n + 14), ...numbered(evicted, evicted), ...numbered(1, 80)]
    for (let polls = 0; polls < 3; polls++) await poll()
    service.calls = [
      ...numbered(n, n + 11),
      seen(`call ${evicted}`, 'ended'),
      ...numbered(n + 12, n + 14),
      ...numbered(1, 80),
    ]
    for (let polls = 0; polls < 20; polls++) expect((await poll()).problem).toBeUndefined()
  })

  test('refutes the order after three sweeps that found the missing call out of place', async () => {
    const { service, poll, memory, has } = await afterTheFirst()
    for (let round = 0; round < 3; round++) {
      expect(memory.traits.orderRefutedAt).toBeUndefined()
      const late = numbered(-round, 0).map((call) => ({ ...call, initiatedAt: numbered(20, 20)[0]!.initiatedAt }))
      service.calls = [...numbered(1, 20), ...late, ...numbered(21, 40)]
      for (let polls = 0; polls < 3; polls++) await poll()
      expect(has(-round)).toBe(true)
    }
    expect(memory.traits.orderRefutedAt).toBeDefined()
  })

  test('does not refute the order if sweeps only find calls that were added while the list was read', async () => {
    const { service, poll, newest, memory, wait } = await afterTheFirst(200, { lookback: 600, pageSize: 10, slice: 4 })
    service.beforePage = () => void wait(2)
    for (let polls = 0; polls < 120; polls++) {
      service.calls = [...numbered(newest(), newest()), ...service.calls]
      // A deletion makes the total unexplained.
      if (polls % 20 === 19) service.calls.splice(60, 1)
      await poll()
      expect(memory.traits.orderRefutedAt).toBeUndefined()
    }
  })

  test('refutes the order at once if a new call is at the oldest end', async () => {
    const { service, poll, memory, has } = await afterTheFirst(38)
    service.calls = [...numbered(1, 38), { ...numbered(0, 0)[0]!, initiatedAt: numbered(39, 39)[0]!.initiatedAt }]
    for (let polls = 0; polls < 4; polls++) await poll()
    expect(has(0)).toBe(true)
    expect(memory.traits.orderRefutedAt).toBeDefined()
  })
})
