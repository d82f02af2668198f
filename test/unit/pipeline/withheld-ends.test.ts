import { expect, test } from 'vitest'
import { triggerOf } from '../../../src/simulator/answers/webhooks.ts'
import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { INTERVAL, lagsOf, watched } from '../../kit/pipeline/watched-webhooks.ts'

test.each([
  ['published', 'call_ended meeting_ended'],
  ['all', 'call_ended meeting_ended call_unanswered call_rejected call_cancelled'],
] as const)(
  'with ids in %s webhooks, the ends that are counted as not announced are those that the simulator withheld',
  async (webhookIds, named) => {
    const webhookFault = { lost: 0.2, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }
    const world = await watched({ switches: { webhookFault, webhookIds }, restartsAt: 1800 })
    const { counted, ended, lost, restarts, target } = world
    const isNamed = (event: LedgerEvent) => (world.named.get(triggerOf(event)!) ?? Infinity) <= event.endedAt!
    const withheld = new Set(lost.filter(({ trigger }) => named.includes(trigger)).map(({ sessionId }) => sessionId))
    const isHeard = (at: number) => restarts.every((restart) => at - 60 >= restart || at + 60 <= restart)
    const settled = ended.filter(({ at }) => at < CREATED + 3600 - 2 * INTERVAL)
    expect(target.ledger.finished.between(0, Infinity).length).toBe(ended.length)
    const heard = settled.filter(({ endedAt }) => isHeard(endedAt!))
    expect(heard.length).toBeGreaterThan(200)
    expect(counted('no')).toBe(heard.filter((event) => withheld.has(event.sessionId) && isNamed(event)).length)
    expect(counted('yes') + counted('no') + counted('unknown')).toBeGreaterThanOrEqual(settled.length)
  },
)

test('calls that failed, whose webhooks name no call, are found within seconds, as those that ended', async () => {
  const { target } = await watched({ callsPerMinute: 20, answerProbability: 0.5, switches: {} })
  for (const status of ['ended', 'unanswered', 'rejected', 'canceled']) {
    const lags = lagsOf(target, status)
    const at = (share: number) => lags[Math.floor(share * (lags.length - 1))]!
    expect(lags.length, status).toBeGreaterThan(50)
    expect([at(0.5) <= 1.5, at(0.95) <= 5], `${status}: ${at(0.5)} and ${at(0.95)} s`).toEqual([true, true])
  }
})
