import { afterEach, describe, expect, test, vi } from 'vitest'
import { callsQuery } from '../../../src/web/page/model/finished-calls.js'
import {
  clock,
  duration,
  moment,
  momentInZone,
  percent,
  plain,
  valueOf,
  zone,
} from '../../../src/web/page/model/format.js'
import { stateOf } from './render-text.ts'

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

  test.each([
    ['another day', 'UTC', '2026-11-19T23:59:59Z', '2026-11-19 23:59:59'],
    ['another day in the zone of the reader', 'Asia/Kolkata', '2026-11-19T18:00:00Z', '2026-11-19 23:30:00'],
    ['the same day in the zone of the reader', 'Asia/Kolkata', '2026-11-19T19:00:00Z', '00:30:00'],
    ['daylight saving time', 'Europe/Berlin', '2026-10-20T14:13:20Z', '2026-10-20 16:13:20 GMT+2'],
  ])('on %s are written with what differs from now', (_what, timezone, iso, expected) => {
    vi.stubEnv('TZ', timezone)
    expect(moment(iso, NOW)).toBe(expected)
  })

  test('that the reader enters for finished calls are in the zone of the reader', () => {
    vi.stubEnv('TZ', 'America/New_York')
    const { finishedCalls, ...state } = stateOf([])
    const filter = { ...finishedCalls, since: 'time', from: '2026-11-20T08:13' }
    const query = callsQuery({ ...state, finishedCalls: filter }, Date.parse(NOW) / 1000)
    expect(query).toBe(`since=${Date.parse('2026-11-20T13:13:00Z') / 1000}`)
  })
})

test.each([
  [0.787, '78.7%'],
  [0, '0.0%'],
  [1, '100.0%'],
  [undefined, '–'],
])('the ratio %s is written as %s', (ratio, expected) => {
  expect(percent(ratio)).toBe(expected)
})

test.each([
  [45, '45 s'],
  [99.6, '100 s'],
  [240, '4 min'],
  [12_600, '3.5 h'],
  [172_800, '2.0 d'],
])('a duration of %s seconds is written as %s', (seconds, expected) => {
  expect(duration(seconds)).toBe(expected)
})

test.each([
  ['failure_ratio', 0.5, '50.0%'],
  ['budget_minutes', 1.2, '120.0%'],
  ['answer_delay_p95', 12, '12 s'],
  ['minutes', 12, '12.0'],
  ['stuck_calls', 1200, '1,200'],
  ['failure_ratio', null, '–'],
])('a value of the signal %s, %s, is written as %s', (signal, value, expected) => {
  expect(valueOf(signal, value)).toBe(expected)
})

test('a text of the service has no control characters, and none that change its direction', () => {
  expect(plain('a\u0000b\u202Ec\u200Bd')).toBe('abcd')
})
