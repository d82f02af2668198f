import { expect, test } from 'vitest'
import { event } from '../../simulator/ledger-events.ts'
import { callsOf } from './call-of.ts'

const callOf = callsOf([
  event(100, 'alone', 'ongoing'),
  event(200, 'room', 'ongoing', { initiatedAt: 200 }),
  event(290, 'room', 'ended', { initiatedAt: 200, startedAt: 203 }),
  event(300, 'room', 'ongoing', { call: 'room#2', initiatedAt: 300 }),
])

test.each([
  ['alone', { initiatedAt: 5000 }, 'alone'],
  ['alone', {}, 'alone'],
  ['room', { initiatedAt: 200 }, 'room'],
  ['room', { initiatedAt: 201 }, 'room'],
  ['room', { startedAt: 203 }, 'room'],
  ['room', { initiatedAt: 299, startedAt: 299 }, 'room#2'],
  ['room', { initiatedAt: 302 }, undefined],
  ['room', {}, undefined],
  ['elsewhere', { initiatedAt: 200 }, undefined],
] as const)('a row of the session %s with the times %j is of the call %s', (session, times, call) => {
  expect(callOf({ session, ...times })).toBe(call)
})
