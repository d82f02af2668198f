import { expect, test } from 'vitest'
import type { RequestRecord } from '../../../src/polling/request-with-retries.ts'
import { healthRecord, NO_POLL } from '../../../src/pipeline/health.ts'

/** So many pages of the list. */
const pages = (count: number): RequestRecord[] =>
  Array.from({ length: count }, () => ({ operation: 'list_calls', code: '200', seconds: 0.1 }))
/** Requests that brought no page: an error of the list, and a single call. */
const NO_PAGE: RequestRecord[] = [
  { operation: 'list_calls', code: '401', seconds: 0.1 },
  { operation: 'get_call', code: '200', seconds: 0.1 },
]
const POLL = { ...NO_POLL, successful: true, requests: pages(1) }

test('a target is down until its first successful poll', () => {
  const health = healthRecord(() => 0)
  expect([
    health.current().successful,
    health.current().problem,
    health.current().fault,
    health.current().requestsLastMinute,
  ]).toEqual([false, undefined, undefined, 0])
})

test('the latest poll alone decides', () => {
  const health = healthRecord(() => 0)
  health.add({ ...POLL, successful: false, problem: 'no answer', fault: 'store' })
  expect([health.current().successful, health.current().problem, health.current().fault]).toEqual([
    false,
    'no answer',
    'store',
  ])
  health.add(POLL)
  expect([health.current().successful, health.current().problem, health.current().fault]).toEqual([
    true,
    undefined,
    undefined,
  ])
})

test('requests are shown for a minute after their poll', () => {
  let now = 0
  const health = healthRecord(() => now)
  health.add({ ...POLL, requests: pages(5) })
  now = 50
  health.add({ ...POLL, requests: pages(2) })
  expect(health.current().requestsLastMinute).toBe(7)
  now = 61
  expect(health.current().requestsLastMinute).toBe(2)
  now = 111
  expect(health.current().requestsLastMinute).toBe(0)
})

test('the requests of a poll are those of the time that it took', () => {
  let now = 100
  const health = healthRecord(() => now)
  health.add({ ...POLL, seconds: 80, requests: pages(80) })
  expect(health.current().requestsLastMinute).toBe(61)
  now = 130
  expect(health.current().requestsLastMinute).toBe(31)
})

test('a target has readable pages until a poll gets none, and is polled since its first poll ended', () => {
  let now = 0
  const health = healthRecord(() => now)
  now = 30
  expect([health.current().hasPage, health.current().polledFor]).toEqual([true, 30])
  health.add({ ...POLL, requests: NO_PAGE })
  now = 50
  expect([health.current().hasPage, health.current().polledFor]).toEqual([false, 20])
  health.add(POLL)
  expect([health.current().hasPage, health.current().polledFor]).toEqual([true, 20])
})

test('a target has the page from which on the service refuses its list, as long as it does', () => {
  const health = healthRecord(() => 0)
  health.add({ ...POLL, refusedFrom: 11 })
  expect(health.current().refusedFrom).toBe(11)
  health.add(POLL)
  expect(health.current().refusedFrom).toBeUndefined()
})

test('requests that the service failed to answer count by the minute, for half an hour', () => {
  let now = 600
  const health = healthRecord(() => now)
  const coded = (...codes: string[]) => codes.map((code) => ({ operation: 'list_calls' as const, code, seconds: 0.1 }))
  health.add({ ...POLL, requests: coded('200', '503', 'timeout', '200') })
  // What the service refuses, it has answered.
  now = 690
  health.add({ ...POLL, requests: coded('404', '429', '401', 'network', 'network', 'invalid') })
  expect(health.requestsWithin(30)).toEqual({ all: 6, wrong: 3, code: 'network' })
  expect(health.requestsWithin(300)).toEqual({ all: 10, wrong: 5, code: 'network' })
  now += 1860
  health.add({ ...POLL, requests: [] })
  expect(health.requestsWithin(1800)).toEqual({ all: 0, wrong: 0 })
})
