import { afterEach, expect, test, vi } from 'vitest'
import { momentOf } from '../../../../src/web/page/model/format.ts'

afterEach(() => void vi.unstubAllEnvs())

test.each([
  ['America/Santiago', '2026-09-06T00:00'],
  ['America/Havana', '2026-03-08T00:00'],
  ['America/New_York', '2026-03-08T02:30'],
  ['Europe/Berlin', '2026-10-25T02:30'],
  ['Europe/Berlin', '2026-03-29T02:30'],
  ['America/New_York', '2026-11-01T01:30'],
  ['Africa/Cairo', '2026-04-24T00:00'],
  ['Australia/Lord_Howe', '2026-04-05T01:45'],
  ['Asia/Kolkata', '2026-04-05T00:00'],
  ['Europe/Berlin', '2026-10-25T03:30'],
  ['Europe/Berlin', '2026-10-24T23:30'],
  ['America/Santiago', '2026-09-06T01:00'],
  ['America/Santiago', '2026-04-05T00:00'],
  ['America/Santiago', '2026-04-04T23:30'],
])('the page reads a time of %s, %s, as the API does', (tz, text) => {
  vi.stubEnv('TZ', tz)
  const expected = Temporal.PlainDateTime.from(text).toZonedDateTime(tz).epochMilliseconds
  expect(new Date(momentOf(text)).toISOString()).toBe(new Date(expected).toISOString())
})
