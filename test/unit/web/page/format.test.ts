import { afterEach, describe, expect, test, vi } from 'vitest'
import { clock, moment, momentInZone, valueOf, zone, zoneName } from '../../../../src/web/page/model/format.ts'

afterEach(() => void vi.unstubAllEnvs())

const NOW = '2026-11-20T14:13:20.000Z'

describe('times on the page', () => {
  test.each([
    ['UTC', '14:13:20', 'UTC'],
    ['Europe/Berlin', '15:13:20', 'GMT+1'],
    ['America/New_York', '09:13:20', 'EST'],
    ['Asia/Kolkata', '19:43:20', 'GMT+5:30'],
  ])('are in the zone of a reader in %s: %s %s', (timezone, time, name) => {
    vi.stubEnv('TZ', timezone)
    expect([clock(NOW), zone(NOW), moment(NOW, NOW), momentInZone(NOW, NOW)]).toEqual([
      time,
      name,
      time,
      `${time} ${name}`,
    ])
  })

  test('are in UTC in a browser that knows no zone', () => {
    vi.stubEnv('TZ', 'Etc/Unknown')
    expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe('Etc/Unknown')
    expect([clock(NOW), momentInZone(NOW, NOW), zoneName()]).toEqual(['14:13:20', '14:13:20 UTC', 'UTC'])
  })

  test.each([
    ['another day', 'UTC', '2026-11-19T23:59:59Z', '2026-11-19 23:59:59'],
    ['another day in the zone of the reader', 'Asia/Kolkata', '2026-11-19T18:00:00Z', '2026-11-19 23:30:00'],
    ['the same day in the zone of the reader', 'Asia/Kolkata', '2026-11-19T19:00:00Z', '00:30:00'],
    ['daylight saving time', 'Europe/Berlin', '2026-10-20T14:13:20Z', '2026-10-20 16:13:20 GMT+2'],
  ])('on %s are written with what differs from now', (_what, timezone, iso, expected) => {
    vi.stubEnv('TZ', timezone)
    expect(moment(iso, NOW)).toBe(expected)
  })
})

test.each([
  ['failure_ratio', 0.5, '50%'],
  ['budget_minutes', 1.2, '120%'],
  ['answer_delay_p95', 12, '12s'],
  ['minutes', 12, '12'],
  ['stuck_calls', 1200, '1,200'],
  ['failure_ratio', null, '–'],
])('a value of the signal %s, %s, is written as %s', (signal, value, expected) => {
  expect(valueOf({ signal }, value)).toBe(expected)
})

test.each([
  ['calls_finished', 0.43, '43% of usual'],
  ['calls_finished', 1, '100% of usual'],
  ['answer_delay_p95', 1.5, '150% of usual'],
  ['failure_ratio', 0.3, '+30 points'],
])('a value of %s with `relative_to`, %s, is written as %s', (signal, value, expected) => {
  expect(valueOf({ signal, relative_to_seconds: 604_800 }, value)).toBe(expected)
})
