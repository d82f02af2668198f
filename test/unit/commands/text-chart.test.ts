import { expect, test } from 'vitest'
import { chartLines, type Chart } from '../../../src/commands/alerts/text-chart.ts'

const FROM = Date.UTC(2026, 8, 21, 14) / 1000
const TO = FROM + 7200

function drawn(valueOf: (minute: number) => number | undefined, differing: Partial<Chart> = {}) {
  const values = Array.from({ length: 120 }, (_, minute) => [FROM + minute * 60, valueOf(minute)] as const)
  const given = values.flatMap(([at, value]) => (value === undefined ? [] : [[at, value] as const]))
  const format = (value: number) => `${Math.round(value * 100)}%`
  return chartLines({ values: given, from: FROM, to: TO, threshold: 0.3, breach: 'above', format, ...differing })
}

test('a chart has the threshold, the largest value and both times, in 80 columns', () => {
  const lines = drawn((minute) => (minute >= 60 && minute < 75 ? 0.9 : minute < 20 || minute >= 100 ? 0.1 : undefined))
  expect(lines.join('\n')).toBe(`\
90% │                                     ██████████
    │                                     ██████████
    │                                     ██████████
30% ┼─────────────────────────────────────██████████────────────────────────────
    │                                     ██████████
 0% │▆▆▆▆▆▆▆▆▆▆▆▆                         ██████████               ▆▆▆▆▆▆▆▆▆▆▆▆▆
     2026-09-21 14:00:00 UTC                             2026-09-21 16:00:00 UTC`)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
})

test('a value for a moment is drawn, however long the time', () => {
  const spike = drawn((minute) => (minute === 61 ? 0.6 : 0.05))
  expect(spike[0]).toMatch(/^60% │ +█$/)
  const dip = drawn((minute) => (minute === 61 ? 0 : 0.6), { breach: 'below' })
  expect(dip.at(-2)).toMatch(/^ 0% │█+▁█+$/)
})

test('values that never reach the threshold are below its line, and only zeros with a threshold of 0 are no chart', () => {
  expect(drawn(() => 0.15)[0]).toMatch(/^30% ┼─+$/)
  expect(drawn(() => 0, { threshold: 0 })).toEqual([])
})

test('a single moment is drawn', () => {
  const lines = drawn((minute) => (minute === 0 ? 0.4 : undefined), { to: FROM })
  expect(lines[0]).toBe('40% │█')
})
