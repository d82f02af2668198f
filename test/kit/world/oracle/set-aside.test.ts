import { expect, test } from 'vitest'

import { setAside } from './set-aside.ts'
import { event } from '../../simulator/ledger-events.ts'
import { livesWith, named, type Facts } from '../calls/lives.ts'

test.each([
  [{}, {}],
  [{ final_changed: 1 }, { finalChanged: 'all' }],
  [{ vanished: 1 }, { vanished: 'all' }],
  [{ vanished_for_a_while: 1 }, { vanished: 'all' }],
  [{ without_ended_at: 1 }, { withoutEndedAt: 'some' }],
  [{ labels_changed: 1 }, { labelsChanged: 'all' }],
  [{ corrected: 1, set_back: 1, recorded_late: 1, near_future: 1, numeric_id: 1, swift: 1, times_reversed: 1 }, {}],
  [{ unknown_status: 1, unknown_label: 1 }, {}],
] as const)('with the facts %j are set aside: %j', (facts, expected) => {
  const lives = livesWith(facts)
  const aside = Object.entries(setAside(lives.flat()))
    .filter(([, ids]) => ids.length > 0)
    .map(([reason, ids]) => [reason, new Set(ids).size === lives.length ? 'all' : 'some'])
  expect(Object.fromEntries(aside)).toEqual(expected)
})

test('a call that was replaced too early is set aside, and no other one of its session', () => {
  const events = [
    event(100, 'room', 'ended', { endedAt: 100 }),
    event(101, 'room', 'ended', { endedAt: 100, event: 'replaced' }),
    event(101, 'room', 'rejected', { call: 'room#2', type: 'video' }),
  ]
  expect(setAside(events)).toMatchObject({ replaced: ['room'], finalChanged: [], labelsChanged: [] })
})

test('a fact changes neither other facts nor when and how calls begin', () => {
  const ids = (facts: Facts, name: string): string[] =>
    livesWith(facts)
      .filter((events) => named(events, name).length > 0)
      .map(([first]) => first!.sessionId)
  const corrected = ids({ corrected: 0.5 }, 'corrected')
  expect(corrected.length).toBeGreaterThan(50)
  expect(ids({ corrected: 0.5, recorded_late: 0.5, set_back: 0.5 }, 'corrected')).toEqual(corrected)
})
