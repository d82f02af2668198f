import { describe, expect, test } from 'vitest'
import { CREATED, seen } from '../ledger/seen.ts'
import { polling, numbered } from './polling.ts'

describe('a sweep', () => {
  test('starts once a sweep interval, and runs in slices beside incremental polls', async () => {
    const { service, next } = polling({ sweepInterval: 60, slice: 3 })
    service.calls = numbered(1, 40)
    const polls: (readonly [string, readonly (string | number)[]])[] = []
    for (let i = 0; i < 9; i++) polls.push(await next())
    expect(polls).toEqual([
      ['complete', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1, 1, 2, 3]],
      ['incremental', [1, 3, 4, 5]],
      ['incremental', [1, 5, 6, 7]],
      ['incremental', [1, 7, 8, 9]],
      ['complete', [1, 9, 10, 11]],
    ])
  })

  test('finds a correction that no incremental poll would see', async () => {
    const { clock, service, next, book } = polling({ sweepInterval: 60 })
    await next()
    await clock.advance(100)
    const after = (n: number, audio = 1) =>
      seen(`after ${n}`, 'ended', {
        initiatedAt: CREATED + 10 + n,
        endedAt: CREATED + 11 + n,
        callMinutes: { audio, video: undefined, total: undefined },
      })
    service.calls = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    expect((await next())[0]).toBe('complete')
    service.calls = service.calls.map((listed) => (listed.id === 'after 5' ? after(5, 3) : listed))
    expect(await next()).toEqual(['incremental', [1]])
    expect(book.state.calls.get('after 5')?.counted[0]).toBe(1)
    for (let i = 0; i < 9; i++) await next()
    expect(book.state.calls.get('after 5')?.counted[0]).toBe(3)
  })

  test('advances even if a poll may only read one page of it', async () => {
    const { service, wait, next } = polling({ sweepInterval: 60, slice: 1 })
    service.calls = numbered(1, 24)
    await next()
    service.beforePage = () => void wait(8)
    const kinds: string[] = []
    for (let i = 0; i < 20; i++) kinds.push((await next())[0])
    expect(kinds.filter((kind) => kind === 'complete').length).toBeGreaterThan(1)
  })

  test('goes back to the beginning of the longest tracked call', async () => {
    const { clock, service, poll, book } = polling({ lookback: 1000, sweepInterval: 60, slice: 100 })
    const long = { initiatedAt: CREATED + 1, startedAt: CREATED + 1 }
    const minutes = (audio: number) => ({ callMinutes: { audio, video: 0, total: undefined } })
    service.calls = [seen('long', 'ongoing', { ...long, ...minutes(1) })]
    await poll()
    await clock.advance(5000)
    const after = (n: number) =>
      seen(`after ${n}`, 'ended', { initiatedAt: CREATED + 10 + n, endedAt: CREATED + 11 + n })
    const short = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    const ended = (audio: number) => seen('long', 'ended', { ...long, ...minutes(audio), endedAt: CREATED + 5000 })
    service.calls = [...short, ended(80)]
    for (let i = 0; i < 6; i++) await poll()
    service.calls = [...short, ended(90)]
    for (let i = 0; i < 10; i++) await poll()
    expect(book.state.calls.get('long')?.counted[0]).toBe(90)
  })

  test('of a long list starts early enough to end within the sweep interval', async () => {
    const { clock, service, poll } = polling({ sweepInterval: 600, slice: 3 })
    service.calls = numbered(1, 40)
    const sweeps: { began: number; ended: number }[] = []
    for (let i = 0; i < 160; i++) {
      const { success } = await poll()
      if (success?.movesHorizon) sweeps.push({ began: success.beganServiceTime, ended: clock.wall() })
    }
    const gaps = sweeps.slice(1).map(({ ended }, i) => ended - sweeps[i]!.began)
    expect(sweeps.length).toBeGreaterThan(3)
    expect(Math.max(...gaps.slice(1))).toBeLessThanOrEqual(615)
  })
})
