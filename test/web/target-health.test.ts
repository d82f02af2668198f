import { expect, test } from 'vitest'
import { healthNote, ownOrNotedHealth, targetHealth } from '../../src/web/target-health.ts'

const CYCLE = { good: true, problem: undefined, requests: 1, hasPage: true, storeFailed: false }

test('a target is down until its first good cycle', () => {
  const health = targetHealth(() => 0)
  expect([health.up(), health.problem(), health.storeFailed(), health.requestsLastMinute()]).toEqual([
    false,
    undefined,
    false,
    0,
  ])
})

test('the latest cycle alone decides', () => {
  const health = targetHealth(() => 0)
  health.note({ ...CYCLE, good: false, problem: 'no answer', storeFailed: true })
  expect([health.up(), health.problem(), health.storeFailed()]).toEqual([false, 'no answer', true])
  health.note(CYCLE)
  expect([health.up(), health.problem(), health.storeFailed()]).toEqual([true, undefined, false])
})

test('requests count for a minute after their cycle', () => {
  let now = 0
  const health = targetHealth(() => now)
  health.note({ ...CYCLE, requests: 5 })
  now = 50
  health.note({ ...CYCLE, requests: 2 })
  expect(health.requestsLastMinute()).toBe(7)
  now = 61
  expect(health.requestsLastMinute()).toBe(2)
  now = 111
  expect(health.requestsLastMinute()).toBe(0)
})

test('a target has pages until a cycle brought none, and is polled since its first cycle ended', () => {
  let now = 0
  const health = targetHealth(() => now)
  now = 30
  expect([health.hasPage(), health.polledFor()]).toEqual([true, 30])
  health.note({ ...CYCLE, hasPage: false })
  now = 50
  expect([health.hasPage(), health.polledFor()]).toEqual([false, 20])
  health.note(CYCLE)
  expect([health.hasPage(), health.polledFor()]).toEqual([true, 20])
})

test('says from which page on the service refuses its list, as long as it does', () => {
  const health = targetHealth(() => 0)
  health.note({ ...CYCLE, refusedFrom: 11 })
  expect(health.refusedFrom()).toBe(11)
  health.note(CYCLE)
  expect(health.refusedFrom()).toBeUndefined()
})

test('of a target that another daemon watches, what that one notes counts; where none does, that is the problem', () => {
  const own = targetHealth(() => 0)
  own.note({ ...CYCLE, requests: 9 })
  const owner = targetHealth(() => 0)
  owner.note({ ...CYCLE, good: false, problem: 'no answer', requests: 4 })
  const now = {
    owns: true,
    owner: 'a' as string | undefined,
    note: undefined as unknown,
    trouble: undefined as string | undefined,
  }
  const health = ownOrNotedHealth(own, 'x', {
    owns: () => now.owns,
    ownerOf: () => now.owner,
    noteOf: () => now.note,
    problem: () => now.trouble,
  })
  const shown = () => [health.up(), health.problem(), health.requestsLastMinute()]
  expect(shown()).toEqual([true, undefined, 9])
  Object.assign(now, { owns: false, owner: 'b', note: JSON.parse(JSON.stringify(healthNote(owner))) })
  expect(shown()).toEqual([false, 'no answer', 4])
  now.note = 'what a later version writes'
  expect(shown()).toEqual([false, undefined, 0])
  now.owner = undefined
  expect(shown()).toEqual([false, 'no daemon watches it at the moment', 0])
  now.trouble = 'the database cannot be reached'
  expect(shown()).toEqual([false, 'the database cannot be reached', 0])
})
