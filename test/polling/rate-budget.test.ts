import { describe, expect, test } from 'vitest'
import { rateBudget, type RateBudgetOptions } from '../../src/polling/rate-budget.ts'
import { virtualClock, type VirtualClock } from '../clock/virtual-clock.ts'

function budgetOn(clock: VirtualClock, more: Partial<RateBudgetOptions> = {}) {
  return rateBudget({ clock, maxRequestsPerMinute: 60, heldUntil: undefined, onHold: () => undefined, ...more })
}

/** Takes as much as the budget gives; the times are those of each grant. */
function takeAll(clock: VirtualClock, budget: ReturnType<typeof budgetOn>, requests: number): number[] {
  const times: number[] = []
  for (let i = 0; i < requests; i++)
    void budget.take(new AbortController().signal).then(() => times.push(clock.monotonic()))
  return times
}

/** The most grants in any window of 60 seconds. */
function busiestMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 60).length))
}

describe('the rate budget', () => {
  test.each([1, 7, 60, 400])('never grants more than %i requests in any minute', async (maxRequestsPerMinute) => {
    const clock = virtualClock()
    const budget = budgetOn(clock, { maxRequestsPerMinute })
    await clock.advance(300)
    const times = takeAll(clock, budget, maxRequestsPerMinute * 4)
    await clock.advance(180)
    expect(busiestMinute(times)).toBeLessThanOrEqual(maxRequestsPerMinute)
    expect(times.length).toBeGreaterThanOrEqual(Math.floor(maxRequestsPerMinute * 0.9 * 3))
  })

  test('a restart does not fill it up: what both granted stays below the limit', async () => {
    const clock = virtualClock()
    const times = takeAll(clock, budgetOn(clock), 18)
    await clock.advance(21)
    expect(times).toHaveLength(18)
    const afterwards = takeAll(clock, budgetOn(clock), 100)
    await clock.advance(120)
    expect(busiestMinute([...times, ...afterwards])).toBeLessThanOrEqual(60)
  })

  test.each([
    [400, 60],
    [60, 400],
  ])(
    'whose limit is set from %i to %i grants no more than the higher meanwhile, and then no more than that',
    async (before, after) => {
      const clock = virtualClock()
      const budget = budgetOn(clock, { maxRequestsPerMinute: before })
      await clock.advance(300)
      const times = takeAll(clock, budget, 3000)
      await clock.advance(45)
      budget.limitTo(after)
      await clock.advance(180)
      expect(busiestMinute(times)).toBeLessThanOrEqual(400)
      const since = times.filter((time) => time > 345)
      expect(busiestMinute(since)).toBeLessThanOrEqual(after)
      expect(since.length).toBeGreaterThanOrEqual(Math.floor(after * 0.9 * 3) - 2)
    },
  )

  test('restarts one after another do not fill it up either', async () => {
    const clock = virtualClock()
    const times: number[] = []
    for (let i = 0; i < 6; i++) {
      const life = new AbortController()
      const budget = budgetOn(clock)
      const note = () => void times.push(clock.monotonic())
      const asked = Array.from({ length: 60 }, () => budget.take(life.signal).then(note, () => undefined))
      await clock.advance(20)
      life.abort()
      await Promise.all(asked)
    }
    expect(times.length).toBeGreaterThan(60)
    expect(busiestMinute(times)).toBeLessThanOrEqual(60)
  })

  test('grants in the order in which it was asked, and the first soon', async () => {
    const clock = virtualClock()
    const budget = budgetOn(clock)
    const granted: string[] = []
    for (const name of ['a', 'b', 'c']) void budget.take(new AbortController().signal).then(() => granted.push(name))
    await clock.advance(1.2)
    expect(granted).toEqual(['a'])
    await clock.advance(3)
    expect(granted).toEqual(['a', 'b', 'c'])
  })

  test('who gives up waiting uses nothing up, and the next one is served', async () => {
    const clock = virtualClock()
    const budget = budgetOn(clock)
    const impatient = new AbortController()
    const gaveUp = budget.take(impatient.signal)
    const times = takeAll(clock, budget, 1)
    impatient.abort()
    await expect(gaveUp).rejects.toThrow('aborted')
    await clock.advance(1.2)
    expect(times).toHaveLength(1)
  })

  test('holds everything back for as long as the service asked', async () => {
    const clock = virtualClock()
    const holds: number[] = []
    const budget = budgetOn(clock, { onHold: (until) => holds.push(until) })
    await clock.advance(10)
    budget.holdBack(30)
    budget.holdBack(5)
    const times = takeAll(clock, budget, 2)
    await clock.advance(29.9)
    expect(times).toEqual([])
    await clock.advance(0.2)
    expect(times).toHaveLength(2)
    expect(holds).toEqual([clock.wall() - 40.1 + 40])
  })

  test('holds nothing back for longer than an hour, whatever the service asked', async () => {
    const clock = virtualClock()
    const holds: number[] = []
    const budget = budgetOn(clock, { onHold: (until) => holds.push(until) })
    const hour = 3600
    expect((budget.holdBack(30 * 24 * hour), budget.heldFor())).toBe(hour)
    expect(holds).toEqual([clock.wall() + hour])
  })

  test('after that hour one request finds out, and all others wait for its answer', async () => {
    const clock = virtualClock()
    const budget = budgetOn(clock)
    budget.holdBack(7200)
    const times = takeAll(clock, budget, 3)
    await clock.advance(3599)
    expect(times).toHaveLength(0)
    await clock.advance(5)
    expect(times).toHaveLength(1)
    // It is still refused.
    budget.holdBack(3600)
    await clock.advance(3590)
    expect(times).toHaveLength(1)
    await clock.advance(12)
    expect(times).toHaveLength(3)
  })

  test('after that hour all go on where the one request is answered', async () => {
    const clock = virtualClock()
    const budget = budgetOn(clock)
    budget.holdBack(7200)
    const times = takeAll(clock, budget, 3)
    await clock.advance(3609)
    expect(times).toHaveLength(1)
    await clock.advance(3)
    expect(times).toHaveLength(3)
  })

  test('a hold outlives a restart', async () => {
    const clock = virtualClock()
    const times = takeAll(clock, budgetOn(clock, { heldUntil: clock.wall() + 7200 }), 1)
    await clock.advance(7199)
    expect(times).toEqual([])
    await clock.advance(2)
    expect(times).toHaveLength(1)
  })

  test('grants nothing while its limit is 0, and starts empty from there', async () => {
    const clock = virtualClock()
    const budget = budgetOn(clock)
    await clock.advance(60)
    budget.limitTo(0)
    const waiting = new AbortController()
    const refused = budget.take(waiting.signal)
    await clock.advance(60)
    waiting.abort()
    await expect(refused).rejects.toThrow('aborted')
    budget.limitTo(60)
    const times = takeAll(clock, budget, 3)
    await clock.advance(1)
    expect(times).toHaveLength(0)
    await clock.advance(2.5)
    expect(times).toHaveLength(3)
  })
})
