import { describe, expect, test } from 'vitest'

import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'
import { answered, event } from '../../simulator/ledger-events.ts'
import { expectedCalls } from './expected-calls.ts'
import { expectedSeries } from './expected-series.ts'

test('the expected series know other spellings, and have undocumented values as other', () => {
  const events = [
    event(100, 'one', 'Cancelled', { endedAt: 101 }),
    event(100, 'two', 'paused', { endedAt: 101, type: 'hologram' }),
    event(100, 'three', 'paused'),
  ]
  const series = expectedSeries(events, { created: 100, baseline: 'skip', now: 200 })
  const get = (metric: string, status: string, type = 'audio'): number | undefined =>
    series.get(`callwatch_${metric}{mode="call",receiver_type="user",status="${status}",type="${type}"}`)
  expect(get('calls_total', 'canceled')).toBe(1)
  expect(get('calls_total', 'other', 'other')).toBe(1)
  expect(get('calls_in_progress', 'other')).toBe(1)
})

describe('in the expected series, a call that has vanished', () => {
  const goneOpen = [event(100, 'one', 'ongoing'), event(105, 'one', 'ongoing', { event: 'vanished' })]
  const names = (events: LedgerEvent[]): string =>
    [...expectedSeries(events, { created: 100, baseline: 'skip', now: 200 }).keys()].join(' ')

  test('while it was open has started, and is neither finished nor in progress', () => {
    expect(names(goneOpen)).toMatch(/^callwatch_calls_started_total\S+$/)
  })

  test('and returned counts as if it had always been listed', () => {
    const back = event(110, 'one', 'ended', { event: 'returned', endedAt: 109 })
    expect(names([...goneOpen, back])).toContain('status="ended"')
    expect(names([...goneOpen, event(110, 'one', 'ongoing', { event: 'returned' })])).toContain('in_progress')
  })

  test('after its end has finished', () => {
    const ended = event(104, 'one', 'ended', { endedAt: 104 })
    const vanished = event(110, 'one', 'ended', { endedAt: 104, event: 'vanished' })
    expect(names([ended, vanished])).toContain('status="ended"')
  })
})

test('excepted calls are not in the expected series', () => {
  const events = [...answered, event(120, 'two', 'ongoing')]
  const options = { created: 100, baseline: 'skip', now: 200 } as const
  expect(expectedSeries(events, { ...options, except: new Set(['two', 'three']) })).toEqual(
    expectedSeries(answered, options),
  )
  expect(expectedSeries(events, { ...options, except: new Set(['one', 'two']) }).size).toBe(0)
})

test('an expected call has its first final status with its labels at that moment, and its last figures', () => {
  const corrected = event(130, 'one', 'rejected', {
    type: 'video',
    startedAt: 104,
    endedAt: 117,
    callMinutes: { audio: 0.2, video: 0 },
  })
  const events = [...answered, corrected, event(120, 'two', 'BUSY', { mode: 'webinar', event: 'vanished' })]
  const calls = expectedCalls(events, 200)
  expect([...calls.keys()]).toEqual(['one', 'two'])
  expect(calls.get('one')).toEqual({
    labels: { type: 'audio', mode: 'call', receiver_type: 'user' },
    status: 'ended',
    final: true,
    isVanished: false,
    initiatedAt: 100,
    startedAt: 104,
    endedAt: 117,
    callMinutes: { audio: 0.2, video: 0 },
    participantMinutes: { audio: 0, video: 0 },
    participants: 2,
    recorded: false,
  })
  expect(calls.get('two')).toMatchObject({
    labels: { mode: 'other' },
    status: 'rejected',
    final: true,
    isVanished: true,
  })
  expect(expectedCalls(events, 110).get('one')).toMatchObject({ status: 'ongoing', final: false })
})
