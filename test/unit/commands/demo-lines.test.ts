import { describe, expect, test } from 'vitest'
import { targetAuditView, type AuditReport } from '../../../src/views/commands/audit.ts'
import type { ComparedCall } from '../../../src/views/commands/audit.ts'
import { areDelivered, demoSummary, figuresLine, slackLines } from '../../../src/commands/demo/lines.ts'
import { link, section } from '../../../src/notifications/receivers/slack/slack-blocks.ts'
import { slackMessage } from '../../../src/notifications/receivers/slack/slack-message.ts'
import { seen } from '../../kit/ledger/seen.ts'
import { finish, finishedCall, POLLED, NOW } from '../../kit/metrics/hand-made-target.ts'
import { AT, FIRING, messageOf, update } from '../../kit/notifications/sample.ts'
import { shownTarget } from '../../kit/web/serve.ts'

test('a message to Slack is shown as its text, with its buttons in a line', () => {
  const { blocks } = slackMessage(messageOf([update({ ...FIRING, runbookUrl: 'https://x.example/?a&b' })]), {
    now: AT + 22,
  })
  const [, head, ...lines] = slackLines([
    ...JSON.parse(JSON.stringify(blocks)),
    section(`${link('https://x.example/', 'a|b')} &lt;1&gt; &amp; *two*`),
  ])
  expect(head).toBe('  ┌─ to Slack')
  expect(lines[0]).toBe('  │ 🔴 critical: HighFailureRate on production')
  expect(lines).toEqual(
    expect.arrayContaining([
      '  │ 17 of 40 calls that finished in the last 15m failed: 42.5%, above the threshold of 30%',
      '  │ Outcomes: rejected 12, unanswered 5, canceled 0, ended 23',
      '  │ [Runbook]',
      '  │ a¦b <1> & two',
    ]),
  )
  expect(lines.slice(-2)).toEqual(['  └─', ''])
  expect(lines.filter((line) => /\*|&amp;|\|/.test(line))).toEqual([])
})

test('the summary shows the counts, and whether they equal what the simulator recorded', () => {
  const target = shownTarget({
    counters: {
      'callwatch_calls_started_total|audio|call|user': 12,
      'callwatch_calls_total|audio|call|user|ended': 7,
      'callwatch_calls_total|audio|call|user|rejected': 3,
      'callwatch_call_minutes_total|audio|call|user|audio': 4.25,
    },
    finished: [finish('ended'), finish('ended'), finish('rejected'), finish('ended')],
    sync: POLLED,
  })
  const equal = demoSummary(target, { at: NOW, series: 150, differences: [] }).join('\n')
  expect(equal).toMatch(/started 12, in progress 0, ended 7, unanswered 0, rejected 3, canceled 0/)
  expect(equal).toMatch(/audio 4\.\d, video 0\.0/)
  expect(equal).toContain('  failed    25.0% of 4 in the last 15m')
  expect(figuresLine(target, NOW)).toMatch(
    /^\d\d:\d\d:\d\d UTC {2}in progress 0, finished 10; failed: 25\.0% of 4 in the last 15m$/,
  )
  expect(equal).toContain('simulator equal: all 150 exact series and failure ratios are what it recorded')
  const differences = [{ series: 'callwatch_calls_total{a="b"}', recorded: 2, counted: 3 }]
  const different = demoSummary(target, { at: NOW, series: 150, differences }).join('\n')
  expect(different).toContain('NOT EQUAL in 1 of 150 exact series')
  expect(different).toContain('callwatch_calls_total{a="b"}: 2 recorded, 3 counted')
})

test('the summary has no failure ratio before a call has finished', () => {
  expect(demoSummary(shownTarget(), { at: NOW, series: 1, differences: [] }).join('\n')).toContain('no calls yet')
})

describe('the summary at the end', () => {
  const V1 = { seen: seen('v1.us.a', 'ended'), counted: undefined }
  const audited = (
    verdict: ComparedCall['verdict'],
    problem?: string,
    call: Pick<ComparedCall, 'seen' | 'counted'> = V1,
  ): AuditReport =>
    targetAuditView({
      target: 'demo',
      problem,
      horizon: NOW - 3600,
      lastPoll: NOW,
      calls: [{ ...call, verdict, rows: 1 }],
      rejected: 0,
      lost: 0,
      unlisted: 0,
      daemonPolls: undefined,
      notRequested: 0,
      orderUnverified: false,
      imbalances: [],
    })
  const summary = (audit: AuditReport, logged = 7, refused = 0) =>
    demoSummary(shownTarget(), { at: NOW, series: 150, differences: [] }, undefined, {
      audit,
      logged,
      received: { events: 7, refused },
    })

  test("shows the audit's verdict above the comparison with the simulator", () => {
    const lines = summary(audited({ kind: 'equal' }))
    const verdict = '  audit     equal: all 1 finished calls that the service lists match the ledger'
    expect(lines.indexOf(verdict)).toBeGreaterThan(0)
    expect(lines[lines.indexOf(verdict) + 1]).toContain('simulator equal')
  })

  test('lists calls that differ', () => {
    const verdict = {
      kind: 'difference' as const,
      discrepancies: [{ what: 'call' as const, counted: 'unknown', served: 'ended' }],
    }
    const text = summary(audited(verdict)).join('\n')
    expect(text).toContain('  audit     NOT EQUAL: 1 call differs from the ledger')
    expect(text).toContain('DIFFERS v1.us.a: ended at the service, unknown to the ledger')
  })

  test.each([
    [finishedCall('cw:1', { session: 'room' }), 'cw:1', 'cw:1 of session room'],
    [undefined, null, 'room'],
  ])('names a call of a session by its call id, unless the ledger does not know the call', (counted, id, named) => {
    const discrepancies = [{ what: 'status' as const, counted: 'ended', served: 'rejected' }]
    const call = { seen: seen('cw:1', 'rejected', { session: 'room' }), counted }
    const report = audited({ kind: 'difference', discrepancies }, undefined, call)
    expect(report.differences).toMatchObject([{ call_id: id, session_id: 'room' }])
    expect(summary(report).join('\n')).toContain(`DIFFERS ${named}: status: ledger ended`)
  })

  test('says whether all events of the log arrived at the webhook', () => {
    const report = audited({ kind: 'equal' })
    expect(summary(report)).toContain('  events    all 7 events of the log were delivered to the webhook, and verified')
    expect(summary(report, 9, 1)).toContain(
      '  events    NOT DELIVERED: 7 of 9 events of the log arrived at the webhook, which refused 1',
    )
    const isDelivered = (logged: number, refused: number) => areDelivered({ logged, received: { events: 7, refused } })
    expect([isDelivered(7, 0), isDelivered(9, 0), isDelivered(7, 1)]).toEqual([true, false, false])
  })

  test('says what could not be compared', () => {
    const text = summary(audited({ kind: 'equal' }, 'the list has no end')).join('\n')
    expect(text).toContain('  audit     NOT VERIFIED')
    expect(text).toContain('compared incompletely: the list has no end')
  })
})
