import { expect, test } from 'vitest'
import { commitObservation, tick } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { ruleOn, POLL_AGE } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const FINISHED = ruleOn({ name: 'calls_finished', window: 900 }, { name: 'Finished' })

test('a target has the values of its rules at the last poll and the last tick, also after it is loaded again', async () => {
  const clock = virtualClock(CREATED)
  const store = openSqliteStore({ path: ':memory:' })
  const settings = { target: targetConfig(), poll: pollConfig({ baseline: 'count' }), rules: [FINISHED, POLL_AGE] }
  const target = await openTarget({ settings, store, clock })
  const valueOf = (rule: typeof FINISHED | typeof POLL_AGE) => target.values.latest(rule)?.value
  expect([FINISHED, POLL_AGE].map(valueOf)).toEqual([undefined, undefined])
  await clock.advance(30)
  const call = seen('a', 'ended', { initiatedAt: CREATED + 1, startedAt: CREATED + 2, endedAt: CREATED + 20 })
  await commitObservation(target, completePoll(30, call))
  await clock.advance(5)
  // It changes nothing, and commits nothing.
  expect(await tick(target)).toBeUndefined()
  expect([FINISHED, POLL_AGE].map(valueOf)).toEqual([1, 5])
  const again = await openTarget({ settings, store, clock, before: target })
  expect(again.values.latest(FINISHED)?.value).toBe(1)
})
