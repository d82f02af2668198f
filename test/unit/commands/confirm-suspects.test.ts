import { expect, test } from 'vitest'
import { confirmSuspects } from '../../../src/commands/audit/confirm-suspects.ts'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { newRateLimiter } from '../../../src/polling/rate-limiter.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { seen } from '../../kit/ledger/seen.ts'

/** Confirms suspects that differ, whatever happens. @returns also the ids that were requested */
async function confirmed(suspects: readonly SeenCall[], getCall = async (id: string) => [seen(id, 'ended')]) {
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
        return { serviceTime: 0, hostTime: 0, limit: undefined, calls: await getCall(id) }
      },
    },
    asking: { clock, rateLimiter, timeout: 10, retries: 0, random: () => 0, onRequest: () => undefined },
    clock,
    poll: { interval: 1 },
    suspects,
    isEqualNow: async () => false,
  })
  for (let i = 0; i < 100; i++) await clock.advance(0.2)
  return { ids: requested, ...(await confirming) }
}

test('a call whose ID would be another path is not requested', async () => {
  const { ids, notRequested, problem } = await confirmed(['.', 'a', '..'].map((id) => seen(id, 'ended')))
  expect([ids, notRequested, problem]).toEqual([['a'], 2, undefined])
})

test.each([
  ['says that it does not know it', () => Promise.reject(new ServiceError('not_found', 'ERR_CALL_SESSION_NOT_FOUND'))],
  ['shows nothing', async () => []],
])('a listed call that is over still differs if Get Call %s; an open one is gone', async (_what, getCall) => {
  const [over, open] = [seen('over', 'ended'), seen('open', 'ongoing')]
  const { gone, requested } = await confirmed([over, open], getCall)
  expect([[...gone], [...requested.values()]]).toEqual([[open], [over]])
})
