import { expect, test } from 'vitest'
import type { DueReport } from '../../../src/notifications/due-report.ts'
import { reportMaker } from '../../../src/notifications/report-maker.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const DAY = 86_400
/** 2026-11-20. */
const TO = Date.UTC(2026, 10, 20) / 1000
const DAILY: DueReport = { every: 'day', due: TO, from: TO - DAY, to: TO, timezone: 'UTC' }
const target = (name: string) => ({ name, created: TO - 60, past: undefined, serviceNow: TO, isSwept: true })
const first = (name: string): DueReport => {
  return { every: undefined, setUp: [target(name)], from: TO - DAY, to: TO, timezone: 'UTC' }
}

/** After the longest time that a report waits for polls. */
async function maker() {
  const clock = virtualClock(TO)
  const make = reportMaker({
    clock,
    store: openSqliteStore({ path: ':memory:' }),
    targets: () => ['a', 'b'],
    rules: () => [],
  })
  return async (due: DueReport) => (await make(due)) ?? (await clock.advance(2 * 3600), make(due))
}

test('a report is made once for all receivers', async () => {
  const make = await maker()
  expect(await make(DAILY)).toBe(await make({ ...DAILY }))
})

test.each<[string, DueReport, DueReport]>([
  ['of another day', DAILY, { ...DAILY, due: TO + DAY, from: TO, to: TO + DAY }],
  ['in another time zone', DAILY, { ...DAILY, timezone: 'Asia/Kolkata' }],
  ['of another target', first('a'), first('b')],
])('a report %s is another one', async (_what, one, other) => {
  const make = await maker()
  const made = await make(one)
  expect(made).toBeDefined()
  expect(await make(other)).not.toBe(made)
})
