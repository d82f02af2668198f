import { expect, test } from 'vitest'
import { parseMoment } from '../../../src/history/moment.ts'

const NOW = 1_790_000_000

test.each(['2026', '202611', '20261101', '202611010800', '20261101080000', '1', '946684799', '1790000000000'])(
  'the number %s is no time: it is not in seconds, or before 2000',
  (text) => {
    for (const zone of [undefined, 'Europe/Berlin']) expect(parseMoment(text, zone, NOW)).toBeUndefined()
  },
)

test.each([
  ['0', 0],
  ['946684800', 946_684_800],
  ['1790000000.5', NOW + 0.5],
  ['4102444800', 4_102_444_800],
  ['1999-12-31T00:00Z', 946_598_400],
  ['1970-01-01', 0],
  ['7d', NOW - 7 * 86_400],
])('%s is a time, with a zone and without', (text, time) => {
  for (const zone of [undefined, 'UTC']) expect(parseMoment(text, zone, NOW)).toBe(time)
})
