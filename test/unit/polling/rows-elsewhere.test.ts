import { describe, expect, test } from 'vitest'
import { isUnordered } from '../../../src/ledger/known-list.ts'
import { newListMemory } from '../../../src/polling/list/list-state.ts'
import { call, numbered, polling } from './polling.ts'

const DAY = 86_400

/** A list of two hundred calls, which was swept once. */
async function swept(options?: Parameters<typeof polling>[0]) {
  const world = polling({ pageSize: 10, slice: 20, sweepInterval: 900, lookback: 2 * DAY, ...options })
  const { service, newest, clock, untilComplete, book, memory } = world
  service.calls = numbered(1, 200)
  await untilComplete()
  await clock.advance(600)
  /** A call comes in so many rows below the newest one, and began just now; returns its id. */
  const comeInAt = (place: number, began = call(newest()).initiatedAt) => {
    const id = `late at ${newest()}`
    service.calls = service.calls.toSpliced(place, 0, { ...call(newest()), id, session: id, initiatedAt: began })
    return id
  }
  const comeIn = () => void (service.calls = [call(newest()), ...service.calls])
  const isTracked = (id: string) => book.state.calls.has(id)
  const unordered = () => isUnordered(memory.list, clock.wall())
  return { ...world, comeIn, comeInAt, isTracked, unordered }
}

describe('calls that come in below the newest ones, since the service shows them late', () => {
  test('are found by the same poll, if they are on a page that it reads', async () => {
    const { comeIn, comeInAt, next, isTracked } = await swept()
    comeIn()
    const late = comeInAt(6)
    expect(await next()).toEqual(['incremental', [1]])
    expect(isTracked(late)).toBe(true)
  })

  test('make later polls read on as far, for a day', async () => {
    const { service, comeIn, comeInAt, poll, next, untilComplete, clock, isTracked } = await swept({
      sweepInterval: 1500,
    })
    service.says = { total: undefined, totalPages: undefined }
    for (let polls = 0; polls < 20; polls++) {
      comeIn()
      await poll()
    }
    // It began like its neighbours.
    const lateAt = (place: number) => comeInAt(place, service.calls[place]!.initiatedAt)
    const first = lateAt(14)
    // The joint hides it, and the next sweep shows how far below it was.
    expect(await next()).toEqual(['incremental', [1]])
    await clock.advance(700)
    await untilComplete()
    expect(isTracked(first)).toBe(true)
    expect(await next()).toEqual(['incremental', [1, 2]])
    const second = lateAt(13)
    expect(await next()).toEqual(['incremental', [1, 2]])
    expect(isTracked(second)).toBe(true)
    await clock.advance(DAY)
    await untilComplete()
    expect(await next()).toEqual(['incremental', [1]])
  })
})

describe('calls that come in far from the end', () => {
  test('are found by the next sweep', async () => {
    const { comeInAt, next, clock, untilComplete, isTracked, unordered, book } = await swept()
    const late = comeInAt(120)
    // As the total did not fall, it trips, and the next poll sweeps.
    await next()
    await clock.advance(300)
    await untilComplete()
    expect([isTracked(late), book.finished(), unordered()]).toEqual([true, 1, false])
  })

  test('make each poll read the whole list once two sweeps have found them, for a day after the last one', async () => {
    const { service, comeInAt, next, clock, untilComplete, isTracked, unordered } = await swept()
    service.says = { total: undefined, totalPages: undefined }
    for (const place of [120, 70]) {
      expect(unordered()).toBe(false)
      const late = comeInAt(place)
      expect(await next()).toEqual(['incremental', [1]])
      await clock.advance(900)
      await untilComplete()
      expect(isTracked(late)).toBe(true)
    }
    expect(unordered()).toBe(true)
    const late = comeInAt(150)
    const [kind, asked] = await next()
    expect([kind, asked.length, isTracked(late)]).toEqual(['complete', 22, true])
    await clock.advance(DAY)
    await untilComplete()
    expect([unordered(), await next()]).toEqual([false, ['incremental', [1]]])
  })

  test('make polls do so after a restart as well', async () => {
    const { comeInAt, next, clock, untilComplete, memory, book } = await swept()
    for (const place of [120, 70]) {
      comeInAt(place)
      await clock.advance(900)
      await untilComplete()
    }
    Object.assign(memory, newListMemory(book.state.sync, clock.monotonic()))
    expect((await next())[1]).toHaveLength(22)
  })

  test('do not, if single calls were only missed since others left while the list was read', async () => {
    const { service, comeIn, poll, wait, unordered } = await swept({ sweepInterval: 300, slice: 4, lookback: 3600 })
    service.says = { total: undefined, totalPages: undefined }
    service.beforePage = () => void wait(1)
    for (let polls = 0; polls < 160; polls++) {
      comeIn()
      if (polls % 20 === 19) service.calls.splice(60, 1)
      expect((await poll()).success).toBeDefined()
      expect(unordered()).toBe(false)
    }
  })
})

test('an old call that is listed again, or one that was excluded, is none that came in elsewhere', async () => {
  const { service, clock, untilComplete, unordered } = await swept({ lookback: 600 })
  for (let sweeps = 0; sweeps < 4; sweeps++) {
    service.calls = [...service.calls, ...numbered(3000 + 10 * sweeps, 3009 + 10 * sweeps)]
    await clock.advance(900)
    await untilComplete()
    expect(unordered()).toBe(false)
  }
})
