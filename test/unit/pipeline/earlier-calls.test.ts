import { expect, onTestFinished, test } from 'vitest'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const DAY = 86_400

async function targetWith(windows: readonly number[]) {
  const store = openSqliteStore({ path: `${temporaryFolder()}/callwatch.db` })
  onTestFinished(() => store.close())
  const rules = windows.map((window, i) =>
    ruleOn({ name: 'calls_finished', window, relativeTo: 7 * DAY, timezone: 'UTC' }, { name: `Rule ${i}` }),
  )
  const settings = { target: targetConfig(), poll: pollConfig({ lookback: DAY }), rules }
  return openTarget({ settings, store, clock: virtualClock(CREATED) })
}

test('any number of rules may compare with earlier windows, which are read once', async () => {
  const target = await targetWith(Array.from({ length: 300 }, (_, i) => 900 + i))
  await commitObservation(target, completePoll(15))
  expect(target.ledger.sync.lastSuccess).toBe(CREATED + 15)
  const ends = [4, 3, 2, 1].map((weeks) => CREATED + 15 - weeks * 7 * DAY)
  expect(target.ledger.earlier?.periods).toEqual(ends.map((end) => ({ from: end - 1199, to: end + 900 })))
})

test('the poll that ends a long time without polls knows of it, also in a window that is longer', async () => {
  const target = await targetWith([7 * DAY])
  const gaps = async (seconds: number) => {
    await commitObservation(target, completePoll(seconds))
    return target.ledger.earlier?.gaps
  }
  expect(await gaps(15)).toEqual([])
  const gap = [{ from: CREATED + 15, to: CREATED + 3 * DAY }]
  expect(await gaps(3 * DAY)).toEqual(gap)
  expect(await gaps(3 * DAY + 900)).toEqual(gap)
  expect(await gaps(3 * DAY + 1800)).toEqual(gap)
})

test.each([
  ['three days', 3 * DAY, 0, [{ from: CREATED, to: CREATED + 3 * DAY }]],
  ['three days, of a clock two days behind', 3 * DAY, -2 * DAY, [{ from: CREATED - 2 * DAY, to: CREATED + DAY }]],
  ['five seconds, of a clock two days ahead', 5, 2 * DAY, []],
])('the time before the first successful poll is without polls, too, if it is long: %s', async (_, at, skew, gaps) => {
  const target = await targetWith([7 * DAY])
  const { answers, success } = completePoll(at)
  const [serviceTime, beganServiceTime] = [CREATED + at + skew, CREATED + at + skew]
  const first = { ...success!, serviceTime, beganServiceTime }
  const shifted = answers.map((answer) => ({ ...answer, serviceTime }))
  await commitObservation(target, { answers: shifted, success: first, clockSkew: skew })
  expect(target.ledger.earlier?.gaps).toEqual(gaps)
})
