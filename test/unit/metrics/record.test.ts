import { describe, expect, test } from 'vitest'
import { labelsOf } from '../../../src/ledger/call.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { recordCommit, recordPoll } from '../../../src/metrics/record.ts'
import type { RequestRecord } from '../../../src/polling/request-with-retries.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { finish, finishedCall, handMadeLedger, NOW } from '../../kit/metrics/hand-made-target.ts'
import { linesOf, readExposition } from '../../kit/metrics/read-exposition.ts'

const POLL = {
  outcome: 'complete' as const,
  successful: true,
  seconds: 0.2,
  requests: [],
  remaining: undefined,
}

function recorder() {
  const { operational, expose } = metricsOf(() => [], '1')
  const shown = async (name: string) => linesOf(readExposition((await expose('prometheus')).body), name)
  return { operational, shown }
}

describe('after a poll', () => {
  test.each([
    ['complete', true, '1'],
    ['incremental', true, '1'],
    ['partial', true, '1'],
    ['partial', false, '0'],
    ['failed', false, '0'],
  ] as const)('with the outcome %s and success %s callwatch_up is %s', async (outcome, successful, up) => {
    const { operational, shown } = recorder()
    recordPoll(operational, 'production', { ...POLL, successful: !successful })
    recordPoll(operational, 'production', { ...POLL, outcome, successful })
    expect(await shown('callwatch_up')).toEqual([up])
    expect(await shown('callwatch_polls_total')).toContain(`outcome=${outcome} ${outcome === 'complete' ? 2 : 1}`)
  })

  test('the metrics have every request by operation and code, with its duration', async () => {
    const { operational, shown } = recorder()
    const requests: RequestRecord[] = [
      { operation: 'list_calls', code: '200', seconds: 0.5 },
      { operation: 'list_calls', code: 'timeout', seconds: 10 },
      { operation: 'get_call', code: '404', seconds: 0.25 },
    ]
    recordPoll(operational, 'production', { ...POLL, requests })
    expect(await shown('callwatch_api_requests_total')).toEqual([
      'operation=list_calls,code=200 1',
      'operation=list_calls,code=timeout 1',
      'operation=get_call,code=404 1',
    ])
    expect(await shown('callwatch_api_request_duration_seconds')).toContain('operation=list_calls 10.5')
  })

  test('callwatch_api_ratelimit_remaining keeps its value where the service sends none', async () => {
    const { operational, shown } = recorder()
    recordPoll(operational, 'production', POLL)
    expect(await shown('callwatch_api_ratelimit_remaining')).toEqual([])
    recordPoll(operational, 'production', { ...POLL, remaining: 0 })
    recordPoll(operational, 'production', POLL)
    expect(await shown('callwatch_api_ratelimit_remaining')).toEqual(['0'])
  })
})

test('callwatch_store_writable is 0 from a failed commit to the next successful one', async () => {
  const { operational, shown } = recorder()
  const ledger = newDraft(handMadeLedger().sync).delta
  const commit = { target: 'a', ledger, alerts: { changed: [], ended: [], notifications: [] }, seconds: 0.003 }
  expect(await shown('callwatch_store_writable')).toEqual(['1'])
  recordPoll(operational, 'a', { ...POLL, outcome: 'failed', successful: false, fault: 'store' })
  expect(await shown('callwatch_store_writable')).toEqual(['0'])
  recordCommit(operational, commit)
  expect(await shown('callwatch_store_writable')).toEqual(['1'])
  expect(await shown('callwatch_store_commit_duration_seconds')).toContain('0.003')
})

test('callwatch_detection_lag_seconds observes each call with an endedAt once, when it finishes', async () => {
  const { operational, shown } = recorder()
  const { delta } = newDraft(handMadeLedger().sync)
  const justNow = finishedCall('a', { endedAt: NOW - 14 })
  const withoutEnd = finishedCall('b', { endedAt: undefined, finish: finish('ended') })
  const longKnown = finishedCall('c', { labels: labelsOf('video', 'call', 'user'), finish: finish('ended') })
  for (const call of [justNow, withoutEnd, longKnown]) delta.calls.set(call.id, call)
  delta.finishes.push(justNow.finish!, withoutEnd.finish!)
  const alerts = { changed: [], ended: [], notifications: [] }
  recordCommit(operational, { target: 'a', ledger: delta, alerts, seconds: 0 })
  const lag = await shown('callwatch_detection_lag_seconds')
  expect(lag.slice(-2)).toEqual(['7', '1'])
})
