import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { earlierBy, lastTime, monthOf } from '../../../src/clock/calendar.ts'

const unix = (time: string) => Date.parse(time) / 1000
/** As `2026-11-20T08:00:00Z`. */
const utc = (time: number | undefined) => time && new Date(time * 1000).toISOString().replace('.000Z', 'Z')
const period = ({ from, to }: { from: number; to: number }) => [utc(from), utc(to), (to - from) / 3600]

describe('the month of a time', () => {
  test.each([
    ['2026-11-20T08:00:00Z', 'UTC', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z', 720],
    ['2026-12-31T23:59:59Z', 'UTC', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z', 744],
    ['2028-02-29T12:00:00Z', 'UTC', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z', 696],
    ['2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', 743],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z', 745],
    ['2026-10-31T18:30:00Z', 'Asia/Kolkata', '2026-10-31T18:30:00Z', '2026-11-30T18:30:00Z', 720],
    ['2026-10-31T18:29:59Z', 'Asia/Kolkata', '2026-09-30T18:30:00Z', '2026-10-31T18:30:00Z', 744],
    // There are two midnights on this first of the month, and the month starts with the first one.
    ['2026-11-01T04:30:00Z', 'America/Havana', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z', 721],
    ['2026-11-01T05:30:00Z', 'America/Havana', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z', 721],
    // And on this one there is none.
    ['2011-04-15T12:00:00Z', 'Asia/Amman', '2011-03-31T22:00:00Z', '2011-04-30T21:00:00Z', 719],
  ])('%s in %s is from %s to %s: %d hours', (moment, timezone, from, to, hours) => {
    expect(period(monthOf(unix(moment), timezone))).toEqual([from, to, hours])
  })

  test.each([
    ['2026-11-14T22:59:59Z', '2026-10-14T22:00:00Z', '2026-11-14T23:00:00Z', 745],
    ['2026-11-14T23:00:00Z', '2026-11-14T23:00:00Z', '2026-12-14T23:00:00Z', 720],
    ['2026-01-03T00:00:00Z', '2025-12-14T23:00:00Z', '2026-01-14T23:00:00Z', 744],
  ])('that begins on day 15, %s is in that from %s to %s: %d hours', (moment, from, to, hours) => {
    expect(period(monthOf(unix(moment), 'Europe/Berlin', 15))).toEqual([from, to, hours])
  })
})

describe('the time of the day', () => {
  test.each([
    ['2026-11-20T08:00:00Z', 7 * 86_400, 'Europe/Berlin', '2026-11-13T08:00:00Z'],
    ['2026-10-26T05:50:00Z', 7 * 86_400, 'Europe/Berlin', '2026-10-19T04:50:00Z'],
    ['2026-10-26T05:50:00Z', 7 * 86_400, 'UTC', '2026-10-19T05:50:00Z'],
    ['2026-03-30T16:00:00Z', 7 * 86_400, 'Europe/Berlin', '2026-03-23T17:00:00Z'],
    ['2026-11-02T13:00:00Z', 7 * 86_400, 'America/New_York', '2026-10-26T12:00:00Z'],
    ['2026-03-30T16:00:00Z', 86_400 + 1800, 'Europe/Berlin', '2026-03-29T15:30:00Z'],
    ['2026-03-29T04:00:00Z', 6 * 3600, 'Europe/Berlin', '2026-03-28T22:00:00Z'],
  ])('%s, %i s earlier in %s, is that of %s', (time, offset, timezone, earlier) => {
    expect(utc(earlierBy(unix(time), offset, timezone))).toBe(earlier)
    expect(earlierBy(unix(time) + 0.1234567, offset, timezone)).toBeCloseTo(unix(earlier) + 0.1234567, 6)
  })
})

test.each([
  ['Europe/Berlin', '2026-10-19T04:50:00Z'],
  ['America/New_York', '2026-10-19T05:50:00Z'],
  ['', '2026-10-19T05:50:00Z'],
])('without a time zone, it is by TZ=%s; an empty one is UTC', (zone, earlier) => {
  vi.stubEnv('TZ', zone)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(utc(earlierBy(unix('2026-10-26T05:50:00Z'), 7 * 86_400))).toBe(earlier)
})

describe('a time at the boundary of two periods', () => {
  test.each([
    [-1, '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'],
    [-0.001, '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'],
    [0, '2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z'],
    [0.001, '2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z'],
  ])('is in the month that starts: %d s from it, that is %s to %s', (seconds, from, to) => {
    const { from: began, to: ends } = monthOf(unix('2026-10-31T23:00:00Z') + seconds, 'Europe/Berlin')
    expect([utc(began), utc(ends)]).toEqual([from, to])
  })

  test('is the last time of a cron pattern that matches it', () => {
    const nine = unix('2026-11-20T08:00:00Z')
    const found = [-1, -0.001, 0, 0.001].map((seconds) => utc(lastTime('0 9 * * *', 'Europe/Berlin', nine + seconds)))
    const [yesterday, today] = ['2026-11-19T08:00:00Z', '2026-11-20T08:00:00Z']
    expect(found).toEqual([yesterday, yesterday, today, today])
  })

  test('is in one month only: each month starts when the one before it ends', () => {
    let { to } = monthOf(unix('2020-01-15T00:00:00Z'), 'Europe/Berlin')
    for (let month = 0; month < 120; month++) {
      const next = monthOf(to, 'Europe/Berlin')
      expect(next.from).toBe(to)
      to = next.to
    }
    expect(utc(to)).toBe('2030-01-31T23:00:00Z')
  })
})

describe('the last time of a cron pattern', () => {
  test.each([
    ['0 9 * * *', '2026-10-24T12:00:00Z', '2026-10-24T07:00:00Z', 'by summer time'],
    ['0 9 * * *', '2026-10-25T12:00:00Z', '2026-10-25T08:00:00Z', 'by winter time, the day on which it began'],
    ['0 9 * * 1-5', '2026-11-22T12:00:00Z', '2026-11-20T08:00:00Z', 'on a Sunday, the Friday before'],
    ['30 2 * * *', '2026-10-25T12:00:00Z', '2026-10-25T00:30:00Z', 'once if the hour occurs twice'],
    ['30 2 * * *', '2026-03-29T00:59:59Z', '2026-03-28T01:30:00Z', 'not yet, an instant before the missing hour'],
    ['30 2 * * *', '2026-03-29T12:00:00Z', '2026-03-29T01:00:00Z', 'at once after the missing hour'],
    ['0 0 29 2 *', '2026-11-20T12:00:00Z', '2024-02-28T23:00:00Z', 'in the last leap year'],
  ])('%s in Berlin, at %s, was %s: %s', (pattern, moment, last) => {
    expect(utc(lastTime(pattern, 'Europe/Berlin', unix(moment)))).toBe(last)
  })

  test('is unknown for a day that does not exist', () => {
    expect(lastTime('0 0 30 2 *', 'UTC', unix('2026-11-20T12:00:00Z'))).toBeUndefined()
  })
})
