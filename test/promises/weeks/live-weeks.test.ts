import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { openReader } from '../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { CREATED, completePoll, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { DAY, endsOf, fewerCalls, firedIn, HOUR, WEEK } from './simulated-weeks.ts'

const INTERVAL = 900
const dropAt = 5 * WEEK + DAY
const OUTAGE = { from: 3 * WEEK, to: 3 * WEEK + 2 * DAY }

test('weeks of polls, with an outage and restarts, fire as a backtest says afterwards, and keep few calls in memory', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'callwatch-weeks-'))
  const address = { path: join(folder.path, 'store.db'), history: 63 * DAY }
  const store = openSqliteStore({ path: address.path })
  const clock = virtualClock(CREATED)
  const settings = {
    target: targetConfig(),
    poll: pollConfig({ interval: INTERVAL }),
    rules: [fewerCalls({ timezone: 'UTC' })],
  }
  const open = () => openTarget({ settings, store, clock })
  const factor = (time: number) => (time - CREATED >= dropAt && time - CREATED < dropAt + 12 * HOUR ? 0.3 : 1)
  const ends = endsOf({ seed: 3, rate: 50, from: CREATED, to: CREATED + dropAt + DAY, factor })
  const live: Notification[] = []
  let target = await open()
  for (let seconds = INTERVAL, next = 0; seconds <= dropAt + DAY; seconds += INTERVAL) {
    await clock.advance(INTERVAL)
    const isDown = seconds >= OUTAGE.from && seconds < OUTAGE.to
    const calls = []
    for (; next < ends.length && ends[next]! <= CREATED + seconds; next++)
      calls.push(
        seen(`call-${next}`, 'ended', {
          initiatedAt: ends[next]! - 60,
          startedAt: ends[next]! - 50,
          endedAt: ends[next]!,
        }),
      )
    if (isDown) continue
    if (seconds % (3 * DAY + INTERVAL) === 0) target = await open()
    const committed = await commitObservation(target, completePoll(seconds, ...calls))
    live.push(...(committed?.alerts.notifications ?? []))
  }
  expect(live.map(({ kind }) => kind)).toContain('firing')
  const { finished, earlier, sync } = target.ledger
  const kept = [finished, earlier!.finished].reduce((sum, { between }) => sum + between(-Infinity, Infinity).length, 0)
  expect(kept).toBeLessThan(ends.length / 20)
  await store.close()
  await using reader = await openReader(address)
  const history = {
    evaluations: await reader.evaluations('a', 0),
    finishes: await reader.finishes('a', 0),
    sync,
    gaps: await reader.gaps('a', settings.poll.lookback),
  }
  const line = ({ kind, at, value, compared }: Notification) => [kind, at, value, compared]
  expect(live.map(line)).toEqual(firedIn(history, settings.rules[0]).map(line))
  expect(live.find(({ kind }) => kind === 'firing')?.compared?.earlier).toHaveLength(3)
})
