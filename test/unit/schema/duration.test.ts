import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from '../../../src/schema/duration-text.ts'

test.each([
  ['0', 0],
  ['0s', 0],
  ['500ms', 0.5],
  ['1500ms', 1.5],
  ['15s', 15],
  ['5m', 300],
  ['24h', 86_400],
  ['7d', 604_800],
])('%s is %d seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds))

test.each(['', '15', '15 s', ' 15s', '-1s', '1.5h', '1h30m', '2w', '5M', 's', '1e3s', '٣s', '15s\n'])(
  '%j is no duration',
  (text) => expect(parseDuration(text)).toBeUndefined(),
)

test.each([
  [0, '0s'],
  [0.5, '500ms'],
  [1.5, '1500ms'],
  [15, '15s'],
  [90, '90s'],
  [900, '15m'],
  [86_400, '1d'],
  [90_000, '25h'],
])('%d seconds read %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
  expect(parseDuration(text)).toBe(seconds)
})
