import { expect, test } from 'vitest'
import { coverageText, firedText, rowText, textOfReport, titleOf } from '../../../src/views/report-text.ts'
import { REPORT, REPORT_ROW } from '../../kit/history/sample-report.ts'

const ZONE = 'Europe/Berlin'

test.each([
  ['2026-11-18T23:00:00Z', '2026-11-19T23:00:00Z', 'on Thursday, 2026-11-19'],
  ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 'on Sunday, 2026-10-25'],
  ['2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z', 'in November 2026'],
  ['2026-10-31T23:00:00Z', '2026-11-20T12:00:00Z', 'from 2026-11-01 00:00 to 2026-11-20 13:00'],
  ['2026-11-15T23:00:00Z', '2026-11-22T23:00:00Z', 'in the week from Monday, 2026-11-16'],
  ['2026-11-16T23:00:00Z', '2026-11-23T23:00:00Z', 'from 2026-11-17 until 2026-11-24'],
  ['2026-11-20T07:15:00Z', '2026-11-21T07:15:00Z', 'from 2026-11-20 08:15 to 2026-11-21 08:15'],
  ['2026-09-30T22:00:00Z', '2026-11-30T23:00:00Z', 'from 2026-10-01 until 2026-12-01'],
])('the title of a report from %s to %s says %s', (since, until, when) => {
  expect(titleOf({ since, until, zone: ZONE, running: false })).toBe(`Calls ${when} (${ZONE})`)
})

test('the title of a month that has not ended says so', () => {
  const title = (since: string) => titleOf({ since, until: '2026-11-20T12:00:00Z', zone: ZONE, running: true })
  expect(title('2026-10-31T23:00:00Z')).toBe(`Calls in November 2026 so far (${ZONE})`)
  expect(title('2026-11-01T23:00:00Z')).toBe(`Calls from 2026-11-02 00:00 to 2026-11-20 13:00 (${ZONE})`)
})

test('a report has its numbers in a line, then what else there is to say, and its targets by the share that failed', () => {
  expect(textOfReport(REPORT)).toEqual({
    title: 'Calls on Thursday, 2026-11-19 (Europe/Berlin)',
    lead: '1,206 calls (+12%), 8,314 participant minutes (-3%), 9,012 user minutes (±0%), 4.2% failed (+0.9 points), known of 2 of 3 target-days',
    lines: [
      'ended 1,154, unanswered 30, rejected 15, canceled 6, other 1',
      '410 of 3,400 invited people did not join, 12.1%, not known of 3 calls',
      'Worst hour, from Thu 2026-11-19 14:00: 21 of 80 calls failed, 26.3%',
      'Fired: HighFailureRate (critical) 3 times on 2 targets, for 1h 20m; NoGoodPoll (warning) once, for 5m',
      'Not covered: 50m (no successful poll, so that calls were noticed late: production)',
      'Compared with Thursday, 2026-11-12',
    ],
    targets: [
      {
        name: 'production',
        lead: '1,204 calls (+12%), 8,310 participant minutes (-3%), 9,008 user minutes (±0%), 4.2% failed (+0.9 points)',
      },
      { name: 'new-customer', lead: '2 calls, 4 participant minutes, 4 user minutes, 0 failed, not known before' },
      {
        name: 'staging',
        lead: '0 calls (-100%), 0 participant minutes (-100%), 0 user minutes (as before)',
      },
    ],
  })
})

test('what was not known before is compared with nothing', () => {
  const none = { calls: 0, failure_ratio: null, participant_minutes: 0, user_minutes: 0 }
  const total = { ...REPORT.total, compared: { targets: 3, days: 3, known_days: 0, now: none, before: none } }
  const { lead, lines } = textOfReport({ ...REPORT, by: [], rows: [], total })
  expect(lead).toBe('1,206 calls, 8,314 participant minutes, 9,012 user minutes, 4.2% failed')
  expect(lines.at(-1)).toBe('Not compared with Thursday, 2026-11-12: less than a day is known of both')
})

test.each([
  [{ joined: 3, absent: 1, unknown: 0 }, null, '1 of 4 invited people did not join'],
  [{ joined: 8, absent: 0, unknown: 1 }, 0, '0 of 8 invited people did not join, 0%, not known of 1 call'],
  [{ joined: 0, absent: 0, unknown: 9 }, null, undefined],
])('of invited people %j the report says %s: %s', (invited, ratio, line) => {
  const { lines } = textOfReport({ ...REPORT, total: { ...REPORT.total, invited, not_joined_ratio: ratio } })
  expect(lines.find((each) => each.includes('invited'))).toBe(line)
})

test('the forecast of a month is a line', () => {
  const forecast = { until: '', calls: 1806, participant_minutes: 12_400.4, user_minutes: 13_500 }
  expect(textOfReport({ ...REPORT, forecast }).lines).toContain(
    'At this pace by the end of the month: 1,806 calls, 12,400 participant minutes, 13,500 user minutes',
  )
})

test.each([
  ['before', 'before the set-up of a and 1 more target, until 2026-11-19 13:00'],
  ['expired', 'expired (store.history): a and 1 more target, until 2026-11-19 13:00'],
  ['ended', 'no successful poll, so that calls were noticed late: a and 1 more target'],
  ['now', 'no successful poll at the end: a and 1 more target'],
] as const)('a time that is not covered, %s, is said in words', (kind, text) => {
  const time = { kind, since: '2026-11-19T10:00:00Z', until: '2026-11-19T11:00:00Z' }
  const blind = [
    { target: 'a', ...time },
    { target: 'b', ...time, until: '2026-11-19T12:00:00Z' },
  ]
  expect(coverageText({ coverage: { blind_seconds: 7200, blind }, zone: ZONE })).toBe(`Not covered: 2h (${text})`)
})

test('of many rules that fired, five are named', () => {
  const fired = Array.from({ length: 7 }, (_, i) => {
    return { alert: `R${i}`, severity: 'info' as const, times: 1, targets: 1, seconds: 60 }
  })
  expect(firedText({ fired })).toMatch(/; R4 \(info\) once, for 1m; and 2 more rules$/)
})

test('calls that were none before have no percentage', () => {
  const zero = { calls: 0, failure_ratio: null, participant_minutes: 0, user_minutes: 0 }
  const compared = { ...REPORT_ROW.compared, before: zero }
  expect(rowText({ ...REPORT_ROW, compared })).toMatch(/^1,204 calls \(0 before\), .* 4\.2% failed$/)
})
