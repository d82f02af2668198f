import { expect, test } from 'vitest'

import { setAside } from '../../src/simulator/set-aside.ts'
import { truth } from '../../src/simulator/truth.ts'
import { livesIn, serviceOf, START } from './world-with-facts.ts'

const service = serviceOf({ reopened: 1 }, 12_000)
const lives = livesIn(service)
const reopened = lives.filter((events) => events.some(({ event }) => event === 'ended_again'))
const [life] = reopened
const first = life!.find(({ event }) => event === 'ended')!
const again = life!.find(({ event }) => event === 'reopened')!
const last = life!.at(-1)!
const of = (created: number, now = START + 12_000) => truth(life!, { created, now, baseline: 'skip' })
const sumOf = (series: ReadonlyMap<string, number>, family: string) =>
  [...series].reduce((sum, [name, value]) => sum + (name.startsWith(family) ? value : 0), 0)

test('a call that is open again after its end is so for 40 minutes or more, and ends with more minutes', () => {
  expect(reopened.length).toBeGreaterThan(50)
  expect(again.at - first.at).toBeGreaterThanOrEqual(300)
  expect(last).toMatchObject({ event: 'ended_again', status: 'ended', endedAt: Math.floor(last.at) })
  expect(last.at - again.at).toBeGreaterThanOrEqual(2400)
  expect(last.callMinutes.audio - first.callMinutes.audio).toBeCloseTo((last.at - again.at) / 60, 6)
})

test('over before the set-up and open after it, it counts whole and finishes at its second end', () => {
  const created = first.at + 60
  const before = of(created, again.at - 1)
  expect(before.size).toBe(0)
  const open = of(created, again.at + 1)
  expect([sumOf(open, 'callwatch_calls_started_total'), sumOf(open, 'callwatch_calls_in_progress')]).toEqual([1, 1])
  const over = of(created)
  expect([sumOf(over, 'callwatch_calls_total'), sumOf(over, 'callwatch_calls_in_progress')]).toEqual([1, 0])
  expect(sumOf(over, 'callwatch_call_duration_seconds_sum')).toBe(last.endedAt! - last.startedAt!)
  expect(setAside(life!, created).finalChanged).toEqual([])
})

test('over after the set-up, it has finished at its first end, and is set aside', () => {
  const created = first.at - 60
  expect(sumOf(of(created), 'callwatch_call_duration_seconds_sum')).toBe(first.endedAt! - first.startedAt!)
  expect(setAside(life!, created).finalChanged).toEqual([first.sessionId])
})

test('over again before the set-up, it counts nowhere', () => {
  expect(of(last.at + 60).size).toBe(0)
})
