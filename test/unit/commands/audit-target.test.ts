import { expect, test } from 'vitest'
import { auditTarget, type AuditTargetOptions } from '../../../src/commands/audit/target.ts'
import { newLedger, type SyncState } from '../../../src/ledger/state.ts'
import { trackedCalls } from '../../../src/ledger/tracked-calls.ts'
import { newRateLimiter } from '../../../src/polling/rate-limiter.ts'
import type { CallsClient } from '../../../src/service/calls-client.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { pollConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const NOW = CREATED + 60

test('calls that were read before the first sweep was confirmed do not differ by a sync state that was read after it', async () => {
  const clock = virtualClock(NOW)
  const rateLimiter = newRateLimiter({ clock, maxRequestsPerMinute: 6000, pausedUntil: undefined, onPause: () => {} })
  const overBefore = seen('over', 'ended', { endedAt: CREATED - 100 })
  const open = seen('open', 'ongoing', { initiatedAt: CREATED + 50, startedAt: CREATED + 55 })
  const times = { serviceTime: NOW, hostTime: NOW, limit: undefined }
  const client: CallsClient = {
    listCalls: async (page) => {
      const calls = page === 1 ? [open, overBefore] : []
      const keys = calls.map(({ id }) => id)
      return { ...times, page, calls, invalid: {}, items: calls.length, keys, total: 2, totalPages: 1 }
    },
    getCall: async () => ({ ...times, calls: [open] }),
  }
  const early: SyncState = { ...newLedger(CREATED).sync, lastSuccess: NOW }
  let reads = 0
  const sync = () => {
    const read = (reads += 1)
    return read === 1 ? early : { ...early, lastSuccessHostTime: read, past: { from: CREATED - 86_400, readAt: NOW } }
  }
  const reader = {
    calls: async () => trackedCalls(),
    target: async () => ({ fingerprint: '', sync: sync(), expired: -Infinity }),
    callsOf: async () => new Map(),
    evictedCalls: async () => new Map(),
    balance: async () => ({ counters: [], rows: [], deletedTotals: [] }),
  }
  const auditing = auditTarget({
    target: 'a',
    sync: early,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is used of it
    reader: reader as unknown as AuditTargetOptions['reader'],
    clientWith: () => client,
    asking: { clock, rateLimiter, timeout: 10, retries: 0, random: () => 0, onRequest: () => undefined },
    clock,
    poll: pollConfig(),
    full: false,
  })
  for (let i = 0; i < 1000; i++) await clock.advance(1)
  const { calls } = await auditing
  expect(calls.map(({ seen: { id }, verdict }) => [id, verdict.kind])).toEqual([
    ['open', 'new'],
    ['over', 'baseline'],
  ])
})
