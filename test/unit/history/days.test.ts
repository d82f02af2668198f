import { describe, expect, test } from 'vitest'
import { daysOf } from '../../../src/history/days.ts'

const unix = (time: string) => Date.parse(time) / 1000
/** As `2026-11-20T08:00:00Z`. */
const utc = (time: number) => new Date(time * 1000).toISOString().replace('.000Z', 'Z')

/** The day of a time, until the next one begins: a day has at most 25 hours. */
function dayOf(time: number, timezone: string) {
  const [day, next] = daysOf({ from: time, to: time + 26 * 3600 }, timezone)
  return { name: day!.name, from: utc(day!.from), to: utc(next!.from), hours: (next!.from - day!.from) / 3600 }
}

describe('the day of a time', () => {
  test.each([
    ['2026-11-20T08:00:00Z', 'Europe/Berlin', '2026-11-19T23:00:00Z', '2026-11-20T23:00:00Z', 24],
    ['2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 23],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 25],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 25],
    ['2026-11-20T08:00:00Z', 'Asia/Kolkata', '2026-11-19T18:30:00Z', '2026-11-20T18:30:00Z', 24],
    // At the boundary of two days, it is the one that starts.
    ['2026-11-19T18:29:59Z', 'Asia/Kolkata', '2026-11-18T18:30:00Z', '2026-11-19T18:30:00Z', 24],
    ['2026-11-19T18:30:00Z', 'Asia/Kolkata', '2026-11-19T18:30:00Z', '2026-11-20T18:30:00Z', 24],
    ['2026-11-19T18:30:00.5Z', 'Asia/Kolkata', '2026-11-19T18:30:00Z', '2026-11-20T18:30:00Z', 24],
    ['2026-10-04T02:00:00Z', 'Australia/Lord_Howe', '2026-10-03T13:30:00Z', '2026-10-04T13:00:00Z', 23.5],
    // This day has no midnight, and starts at one o'clock.
    ['2026-09-06T12:00:00Z', 'America/Santiago', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z', 23],
    ['2026-09-06T03:59:59Z', 'America/Santiago', '2026-09-05T04:00:00Z', '2026-09-06T04:00:00Z', 24],
  ])('%s in %s is from %s to %s: %d hours', (moment, timezone, from, to, hours) => {
    expect(dayOf(unix(moment), timezone)).toMatchObject({ from, to, hours })
  })
})

test.each([
  ['2026-11-19T22:59:59Z', 'Europe/Berlin', '2026-11-19'],
  ['2026-11-19T23:00:00Z', 'Europe/Berlin', '2026-11-20'],
  ['2026-07-19T21:59:59Z', 'Europe/Berlin', '2026-07-19'],
  ['2026-07-19T22:00:00Z', 'Europe/Berlin', '2026-07-20'],
  ['2026-12-31T18:30:00Z', 'Asia/Kolkata', '2027-01-01'],
  ['2026-01-05T00:00:00Z', 'America/New_York', '2026-01-04'],
])('the date of %s in %s is %s', (moment, timezone, day) => {
  expect(dayOf(unix(moment), timezone).name).toBe(day)
})
