import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { UNKNOWN_SKEW } from '../../../src/polling/clock-skew.ts'
import { newPollMemory } from '../../../src/polling/poll-memory.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { CREATED } from '../../kit/ledger/seen.ts'

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
