import { expect, onTestFinished, test } from 'vitest'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const HOUR = 3600
const nextHour = Math.ceil(CREATED / HOUR) * HOUR - CREATED

test('the calls of what is usual are read once an hour and when a target is opened, and those that are noticed late are added', async () => {
  const store = openSqliteStore({ path: `${temporaryFolder()}/callwatch.db` })
  onTestFinished(() => store.close())
  const read: number[] = []
  const counted: typeof store = {
    ...store,
    summedCalls: (target, period) => {
      read.push(period.to - CREATED - nextHour)
      return store.summedCalls(target, period)
    },
  }
  const rules = [0.15, 0.3].map((aboveUsual, i) => {
    return { ...RATIO, name: `Rule ${i}`, signal: { ...RATIO.signal, aboveUsual } }
  })
  const settings = { target: targetConfig(), poll: pollConfig(), rules }
  const open = () => openTarget({ settings, store: counted, clock: virtualClock(CREATED) })
  const ended = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })
  const numbers = (target: Awaited<ReturnType<typeof open>>) =>
    target.ledger.usual.map(({ tallies }) => tallies.reduce((sum, { n }) => sum + n, 0))
  const target = await open()
  const poll = async (seconds: number, ...calls: ReturnType<typeof seen>[]) =>
    commitObservation(target, completePoll(seconds, ...calls))
  const calls = [ended('a', 10), ended('b', 20)]
  await poll(30, ...calls)
  // Its window reaches back to the last poll.
  await poll(nextHour + 900, ...calls)
  await poll(nextHour + 915, ...calls)
  // Those of the hour before are kept until it is certain that the poll is committed.
  expect([read, numbers(target)]).toEqual([
    [-2 * HOUR, -HOUR, 0],
    [2, 0],
  ])
  await poll(nextHour + 930, ...calls, ended('late', 15), ended('now', nextHour + 920))
  expect([read, numbers(target)[0]]).toEqual([[-2 * HOUR, -HOUR, 0], 3])
  expect(numbers(await open())).toEqual([3])
  expect(read).toEqual([-2 * HOUR, -HOUR, 0, 0])
})
