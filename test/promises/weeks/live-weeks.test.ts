import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { openReader } from '../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { random } from '../../../src/simulator/random.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { CREATED, completePoll, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { DAY, endsOf, fewerCalls, firedIn, HOUR, shippedRule, WEEK } from './simulated-weeks.ts'

const INTERVAL = 900
const dropAt = 5 * WEEK + DAY
/** When many calls are not answered. */
const BURST = { from: 2 * WEEK + 20 * HOUR, to: 2 * WEEK + 24 * HOUR }
const OUTAGE = { from: 3 * WEEK, to: 3 * WEEK + 2 * DAY }

test('weeks of polls, with an outage and restarts, fire as a backtest says afterwards, and keep few calls in memory', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'callwatch-weeks-'))
  const address = { path: join(folder.path, 'store.db'), history: 63 * DAY }
  const store = openSqliteStore({ path: address.path })
  const clock = virtualClock(CREATED)
  const { signal, ...failures } = shippedRule('HighFailureRate')
  // With few calls an hour.
  const aboveUsual = { ...failures, signal: { ...signal, window: HOUR } } as Rule
  const settings = {
    target: targetConfig(),
    poll: pollConfig({ interval: INTERVAL }),
    rules: [fewerCalls({ timezone: 'UTC' }), aboveUsual],
  }
  const open = () => openTarget({ settings, store, clock })
  const factor = (time: number) => (time - CREATED >= dropAt && time - CREATED < dropAt + 12 * HOUR ? 0.3 : 1)
  const ends = endsOf({ seed: 3, rate: 50, from: CREATED, to: CREATED + dropAt + DAY, factor })
  const draw = random(4, 'outcomes')
  const live: Notification[] = []
  let target = await open()
  for (let seconds = INTERVAL, next = 0; seconds <= dropAt + DAY; seconds += INTERVAL) {
    await clock.advance(INTERVAL)
    const isDown = seconds >= OUTAGE.from && seconds < OUTAGE.to
    const calls = []
    for (; next < ends.length && ends[next]! <= CREATED + seconds; next++) {
      const [endedAt, isBurst] = [ends[next]!, seconds >= BURST.from && seconds < BURST.to]
      const isAnswered = draw() >= (isBurst ? 0.9 : 0.4)
      const answered = isAnswered ? { startedAt: endedAt - 50 } : {}
      const times = { initiatedAt: endedAt - 60, endedAt, ...answered }
      calls.push(seen(`call-${next}`, isAnswered ? 'ended' : 'unanswered', times))
    }
    if (isDown) continue
    if (seconds % (3 * DAY + INTERVAL) === 0) target = await open()
    const committed = await commitObservation(target, completePoll(seconds, ...calls))
    live.push(...(committed?.alerts.notifications ?? []))
  }
  const firing = live.filter(({ kind }) => kind === 'firing')
  expect(new Set(firing.map(({ alert }) => alert))).toEqual(new Set(['FewerCalls', 'HighFailureRate']))
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
  const line = ({ alert, kind, at, value, compared, usual, threshold }: Notification) => {
    return { alert, kind, at, value, compared, usual, threshold }
  }
  expect(live.map(line)).toEqual(firedIn(history, settings.rules).map(line))
  expect(firing.find(({ alert }) => alert === 'FewerCalls')?.compared?.earlier).toHaveLength(3)
  // Before a hundred calls were known, it fired on what was usual.
  const usual = firing.flatMap(({ alert, usual }) => (alert === 'HighFailureRate' ? [usual] : []))
  expect(usual[0]).toBeUndefined()
  expect(usual.at(-1)).toBeCloseTo(0.4, 1)
})
