import { expect, test } from 'vitest'
import { dueReport } from '../../../src/notifications/due-report.ts'

const utc = (text: string) => Date.parse(text) / 1000
const TARGET = {
  name: 'production',
  created: 0,
  past: undefined,
  isSwept: true,
  serviceNow: utc('2026-11-20T00:00:00Z'),
}

/** Whether the daily report is due to a receiver that got that of 2026-11-19 at nine. */
function isDue(now: string, { at = '09:00', timezone = 'UTC', got = '2026-11-20T00:00:00Z' } = {}) {
  const state = { added: 0, cursor: 0, reports: { day: utc(got) }, setUps: {} }
  const reports = [{ every: 'day' as const, at, timezone }]
  return dueReport(state, { reports, targets: [TARGET], now: utc(now) }) !== undefined
}

test.each([
  ['the next day', '2026-11-21T09:00:00Z', {}, true],
  ['the same day', '2026-11-20T12:00:00Z', {}, false],
  ['the same day at a later time, by a new configuration', '2026-11-20T13:00:00Z', { at: '13:00' }, false],
  ['nearly the same day in a time zone further west', '2026-11-20T20:00:00Z', { timezone: 'America/New_York' }, false],
  ['a day after a clock that was far ahead', '2026-11-20T09:00:00Z', { got: '2026-12-24T00:00:00Z' }, true],
])('whether a report is due: %s', (_what, now, given, expected) => {
  expect(isDue(now, given)).toBe(expected)
})
