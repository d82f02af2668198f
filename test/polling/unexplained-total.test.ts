import { describe, expect, test } from 'vitest'
import { seen } from '../ledger/seen.ts'
import { polling, numbered } from './polling.ts'

/** A list of forty calls or so that was read once. */
async function afterTheFirst(size = 40, options?: Parameters<typeof polling>[0]) {
  const world = polling(options)
  world.service.calls = numbered(1, size)
  await world.poll()
  return world
}

describe('a total that new calls do not explain', () => {
  test('and that the next poll explains costs no more than that poll', async () => {
    const { service, next, has } = await afterTheFirst()
    // Its total is newer than its page.
    service.says = { total: 41, totalPages: 11 }
    expect(await next()).toEqual(['not good', [1]])
    service.says = {}
    service.calls = numbered(0, 40)
    expect(await next()).toEqual(['incremental', [1]])
    expect(has(0)).toBe(true)
  })

  test('and that is as it was in the next poll was a slip', async () => {
    const { service, next } = await afterTheFirst()
    service.says = { total: 41, totalPages: 11 }
    for (let slips = 0; slips < 3; slips++) {
      service.says = { total: 41, totalPages: 11 }
      expect(await next()).toEqual(['not good', [1]])
      service.says = {}
      expect(await next()).toEqual(['incremental', [1]])
    }
  })

  test('is explained by what came in at the far end, with one page more', async () => {
    const { service, next } = await afterTheFirst(38, { lookback: 1000 })
    service.calls = [...numbered(1, 38), ...numbered(5000, 5000)]
    expect(await next()).toEqual(['not good', [1]])
    expect(await next()).toEqual(['incremental', [1, 10]])
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is asked about twice before the whole list is read, in slices where it is long', async () => {
    const { service, wait, next, has } = await afterTheFirst()
    service.calls = [
      ...numbered(1, 20),
      { ...numbered(0, 0)[0]!, initiatedAt: numbered(20, 20)[0]!.initiatedAt },
      ...numbered(21, 40),
    ]
    service.beforePage = () => void wait(3)
    expect((await next())[1]).toEqual([1])
    expect((await next())[1]).toEqual([1, 11])
    expect(await next()).toEqual(['not good', [1, 11, 1, 2, 3]])
    expect(await next()).toEqual(['not good', [1, 11, 3, 4, 5]])
    expect(await next()).toEqual(['not good', [1, 11, 5, 6, 7]])
    // The missing one is found: the total is explained, and no more is read.
    expect([has(0), await next()]).toEqual([true, ['incremental', [1]]])
  })

  test('is not asked about again where the service has none any more: the list is read to its end', async () => {
    const { service, next } = await afterTheFirst()
    service.says = { total: 47, totalPages: 12 }
    expect((await next())[0]).toBe('not good')
    service.says = { total: undefined, totalPages: undefined }
    for (let polls = 0; polls < 2; polls++) expect((await next())[0]).toBe('whole')
  })

  test('makes the poll read to the end, also past the horizon: the missing one may be anywhere', async () => {
    const { service, poll, next, untilWhole, newest, has } = polling({ lookback: 30, pageSize: 10, slice: 2 })
    service.calls = numbered(1, 100)
    await untilWhole()
    const n = newest()
    service.calls = [
      ...numbered(1, 85),
      { ...numbered(n, n)[0]!, initiatedAt: numbered(85, 85)[0]!.initiatedAt },
      ...numbered(86, 100),
    ]
    for (let looks = 0; looks < 2; looks++) expect((await poll()).end).toBeUndefined()
    expect([(await next())[0], has(n)]).toEqual(['whole', true])
  })

  test('is none where a call that was counted and evicted is listed again, without its times', async () => {
    const { service, poll, untilWhole, newest, book } = polling({
      lookback: 600,
      pageSize: 10,
      slice: 2,
      sweepInterval: 90,
    })
    service.calls = numbered(1, 80)
    await untilWhole()
    const evicted = newest()
    service.calls = [...numbered(evicted, evicted), ...numbered(1, 80)]
    for (let looks = 0; looks < 60; looks++) await poll()
    expect([...book.history.keys()]).toEqual([`call ${evicted}`])
    const n = newest()
    service.calls = [...numbered(n, n + 14), ...numbered(evicted, evicted), ...numbered(1, 80)]
    for (let looks = 0; looks < 3; looks++) await poll()
    service.calls = [
      ...numbered(n, n + 11),
      seen(`call ${evicted}`, 'ended'),
      ...numbered(n + 12, n + 14),
      ...numbered(1, 80),
    ]
    for (let looks = 0; looks < 20; looks++) expect((await poll()).problem).toBeUndefined()
  })

  test('refutes the order once it was so three times', async () => {
    const { service, poll, memory, has } = await afterTheFirst()
    for (let round = 0; round < 3; round++) {
      expect(memory.facts.orderRefutedAt).toBeUndefined()
      const late = numbered(-round, 0).map((call) => ({ ...call, initiatedAt: numbered(20, 20)[0]!.initiatedAt }))
      service.calls = [...numbered(1, 20), ...late, ...numbered(21, 40)]
      for (let looks = 0; looks < 3; looks++) await poll()
      expect(has(-round)).toBe(true)
    }
    expect(memory.facts.orderRefutedAt).toBeDefined()
  })

  test('does not refute it where no more was found than calls that came in while the list was read', async () => {
    const { service, poll, newest, memory, wait } = await afterTheFirst(200, { lookback: 600, pageSize: 10, slice: 4 })
    service.beforePage = () => void wait(2)
    for (let looks = 0; looks < 120; looks++) {
      service.calls = [...numbered(newest(), newest()), ...service.calls]
      // A deletion is not explained either.
      if (looks % 20 === 19) service.calls.splice(60, 1)
      await poll()
      expect(memory.facts.orderRefutedAt).toBeUndefined()
    }
  })

  test('refutes the order at once where a new call stands at the far end', async () => {
    const { service, poll, memory, has } = await afterTheFirst(38)
    service.calls = [...numbered(1, 38), { ...numbered(0, 0)[0]!, initiatedAt: numbered(39, 39)[0]!.initiatedAt }]
    for (let looks = 0; looks < 4; looks++) await poll()
    expect(has(0)).toBe(true)
    expect(memory.facts.orderRefutedAt).toBeDefined()
  })
})
