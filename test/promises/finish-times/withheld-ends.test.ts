import { expect, test } from 'vitest'
import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { INTERVAL, watched } from '../../kit/pipeline/watched-webhooks.ts'

const RESTART = 1800
const END = /^call_(?!initiated|started)|^meeting_ended/

test('the ends that are counted as not announced are those that the simulator withheld, also beside a restart', async () => {
  const webhookFault = { lost: 0.2, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }
  const { counted, ended, lost, target } = await watched({ switches: { webhookFault }, restartsAt: RESTART })
  const withheld = new Set(lost.filter(({ trigger }) => END.test(trigger)).map(({ sessionId }) => sessionId))
  // Whether an end counts near a restart depends on when a poll found it.
  const isNear = (at: number) => Math.abs(at - CREATED - RESTART) < 3 * INTERVAL || at > CREATED + 3600 - 3 * INTERVAL
  const { missed = [], announced = [] } = Object.groupBy(ended, ({ sessionId }) =>
    withheld.has(sessionId) ? 'missed' : 'announced',
  )
  const certain = (events: LedgerEvent[]) =>
    events.filter(({ at }) => !isNear(at) && at > CREATED + 3 * INTERVAL).length
  expect(target.ledger.finished.between(0, Infinity).length).toBe(ended.length)
  expect([certain(missed) > 30, certain(announced) > 150]).toEqual([true, true])
  expect(counted.missed).toBeGreaterThanOrEqual(certain(missed))
  expect(counted.missed).toBeLessThanOrEqual(missed.length)
  expect(counted.announced).toBeGreaterThanOrEqual(certain(announced))
  expect(counted.announced).toBeLessThanOrEqual(announced.length)
})

test('calls that failed are found within seconds, as those that ended', async () => {
  const { lagsOf } = await watched({ callsPerMinute: 20, answerProbability: 0.5, switches: {} })
  for (const status of ['ended', 'unanswered', 'rejected', 'canceled']) {
    const lags = lagsOf(status)
    const at = (share: number) => lags[Math.floor(share * (lags.length - 1))]!
    expect(lags.length, status).toBeGreaterThan(50)
    expect([at(0.5) <= 1.5, at(0.95) <= 5], `${status}: ${at(0.5)} and ${at(0.95)} s`).toEqual([true, true])
  }
})
