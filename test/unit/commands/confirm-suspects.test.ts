import { expect, test } from 'vitest'
import { confirmSuspects } from '../../../src/commands/audit/confirm-suspects.ts'
import { newRateLimiter } from '../../../src/polling/rate-limiter.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { seen } from '../../kit/ledger/seen.ts'

test('a call whose ID would be another path is not requested', async () => {
  const clock = virtualClock()
  const requested: string[] = []
  const rateLimiter = newRateLimiter({
    clock,
    maxRequestsPerMinute: 6000,
    pausedUntil: undefined,
    onPause: () => undefined,
  })
  const confirming = confirmSuspects({
    target: 'a',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is used of it
    reader: { target: async () => undefined } as unknown as Parameters<typeof confirmSuspects>[0]['reader'],
    client: {
      listCalls: () => Promise.reject(new Error('not listed')),
      getCall: async (id) => {
        requested.push(id)
        return { serviceTime: 0, hostTime: 0, limit: undefined, calls: [seen(id, 'ended')] }
      },
    },
    asking: { clock, rateLimiter, timeout: 10, retries: 0, random: () => 0, onRequest: () => undefined },
    clock,
    poll: { interval: 1 },
    suspects: ['.', 'a', '..'].map((id) => seen(id, 'ended')),
    isEqualNow: async () => false,
  })
  for (let i = 0; i < 100; i++) await clock.advance(0.2)
  const { notRequested, problem } = await confirming
  expect([requested, notRequested, problem]).toEqual([['a'], 2, undefined])
})
