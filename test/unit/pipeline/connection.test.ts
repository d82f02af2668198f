import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { UNKNOWN_SKEW } from '../../../src/polling/clock-skew.ts'
import { newPollMemory } from '../../../src/polling/poll-memory.ts'
import { formatUnreadTime } from '../../../src/text/format.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { CREATED } from '../../kit/ledger/seen.ts'

test('a call of which no time can be read is known, and the poll says which', async () => {
  const ledger = newLedger(CREATED)
  const memory = newPollMemory(ledger.sync, undefined)
  const row = { sessionId: 's', status: 'ended', startedAt: '21/09/2026' }
  const client = connect({ target: targetConfig(), poll: pollConfig(), rules: [] }, () => ({ ledger, memory }), {
    ownership: { owns: () => true },
    clock: virtualClock(CREATED),
    log: pino({ level: 'silent' }),
    transportTo: () => async () => ({ status: 200, headers: {}, body: JSON.stringify({ data: [row] }) }),
  })
  expect((await client.listCalls(1, new AbortController().signal)).calls).toHaveLength(1)
  expect(formatUnreadTime(memory.unreadTime!)).toContain('times as "21/09/2026" cannot be read')
})

test.each([
  ['before any is known', undefined, undefined, 0],
  ['of the first page, until it is committed', -2825, undefined, -2825],
  ['that is committed', -2825, -2800, -2800],
])('an answer without a `Date` has the clock skew %s', async (_, accepted, clockSkew, ahead) => {
  const ledger = newLedger(CREATED)
  ledger.sync = { ...ledger.sync, clockSkew }
  const memory = { ...newPollMemory(ledger.sync, undefined), clock: { ...UNKNOWN_SKEW, accepted } }
  const client = connect({ target: targetConfig(), poll: pollConfig(), rules: [] }, () => ({ ledger, memory }), {
    ownership: { owns: () => true },
    clock: virtualClock(CREATED),
    log: pino({ level: 'silent' }),
    transportTo: () => async () => ({ status: 200, headers: {}, body: '{"data":[]}' }),
  })
  const { serviceTime } = await client.listCalls(1, new AbortController().signal)
  expect(serviceTime - CREATED).toBe(ahead)
})
