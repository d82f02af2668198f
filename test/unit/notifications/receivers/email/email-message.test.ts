import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emailMessage } from '../../../../../src/notifications/receivers/email/email-message.ts'
import { anyMessage } from '../../any-message.ts'
import { reportCsv } from '../../../../../src/views/report.ts'
import { longestMessage, WIDE } from '../../longest-message.ts'
import {
  AT,
  DAILY,
  FIRST,
  FIRING,
  messageOf,
  REMINDER,
  RESOLVED,
  STORE_FAILING,
  TOO_FEW,
} from '../../../../kit/notifications/sample.ts'

const of = (message: Parameters<typeof emailMessage>[0]) => emailMessage(message, { now: AT })

describe('the first line of an e-mail, or the subject of a report', () => {
  const other = { ...FIRING, key: 'Other', alert: 'Other' }
  test.each([
    [
      messageOf([RESOLVED]),
      /^\[resolved\] critical HighFailureRate on production: 4 of 40 calls .*back at or below 20%$/,
    ],
    [
      messageOf([REMINDER], { about: 'reminder' }),
      /^\[firing\] critical HighFailureRate on production: 17 of 40 calls /,
    ],
    [messageOf([TOO_FEW]), /^\[expired\] critical HighFailureRate on production: too few calls\. /],
    [messageOf([FIRING, other]), /^\[2 firing\] critical on production: HighFailureRate, Other$/],
    [messageOf([FIRING, { ...RESOLVED, alert: 'Other' }]), /^\[1 firing, 1 resolved\] critical on production: /],
    [
      { ...messageOf([]), flapped: [{ notification: FIRING, times: 1, peak: 0.5, endedAt: AT }] },
      /^\[resolved\] critical HighFailureRate on production: fired and resolved at .*, worst 50%$/,
    ],
    [FIRST, /^callwatch watches production$/],
    [DAILY, /^Calls on Thursday, 2026-11-19 \(Europe\/Berlin\)$/],
    [STORE_FAILING, /^\[firing\] callwatch cannot write to its store$/],
  ])('says what became of what', (message, subject) => {
    const mail = of(message)
    expect(message.kind === 'alerts' ? mail.text.split('\n')[0] : mail.subject).toMatch(subject)
  })
})

test('all mails of an incident have one subject, whatever became of it', () => {
  const group = { alert: 'HighFailureRate', severity: 'critical' } as const
  const worse = { severity: 'critical', target: undefined } as const
  const all = [
    messageOf([FIRING], { group }),
    messageOf([RESOLVED], { group }),
    messageOf([FIRING], { group, ...worse }),
  ]
  expect(new Set(all.map((message) => of(message).subject))).toEqual(new Set(['callwatch: HighFailureRate']))
  expect(of(messageOf([FIRING], { group: {} })).subject).toBe('callwatch: alerts')
})

test('a mail does not say resolved while something else of the same targets fires', () => {
  const group = { alert: 'HighFailureRate' }
  const given = { group, target: undefined, incident: undefined, elsewhere: [{ ...FIRING, alert: 'Other' }] }
  expect(of(messageOf([RESOLVED], given)).text).toMatch(
    /^\[firing\] critical Other still fires; HighFailureRate resolved/,
  )
})

test('an alert has its facts, its description while it fires, and links, as text and as HTML', () => {
  const { text, html } = of(messageOf([{ ...FIRING, runbookUrl: 'https://runbooks.test/failures?a=1&b=2' }]))
  expect(text.split('\n').slice(1, 5)).toEqual([
    '',
    '[firing] HighFailureRate',
    '17 of 40 calls that finished in the last 15m failed: 42.5%, above the threshold of 30%',
    'Many of the calls of the last 15m failed. Ask the carrier.',
  ])
  expect(text).toMatch(/^Outcomes: rejected 12, unanswered 5, canceled 0, ended 23$/m)
  expect(text).toMatch(/^Since: .* \(2m\)$/m)
  expect(text).toMatch(/^Trend: .* last 8 × 15m; /m)
  expect(text).toMatch(/^Runbook: https:\/\/runbooks\.test\/failures\?a=1&b=2$/m)
  expect(html).toContain('<a href="https://runbooks.test/failures?a=1&amp;b=2">Runbook</a>')
  expect(html).toContain('<h3>[firing] HighFailureRate</h3>')
  expect(of(messageOf([RESOLVED])).text).not.toContain('Ask the carrier.')
})

test('an alert has links to its page, its calls and its silence, and the message names what it inhibits', () => {
  const links = {
    alert: 'https://callwatch.test/?a=1#alert',
    calls: 'https://callwatch.test/?a=1#calls',
    silence: 'https://callwatch.test/#silence',
  }
  const inhibited = [{ alert: 'Lower', target: 'staging', severity: 'warning' as const }]
  const message = { ...messageOf([]), alerts: [{ notification: FIRING, flaps: 0, links }], inhibited }
  const { text, html } = of(message)
  expect(text).toMatch(/^Alert: https:\/\/callwatch\.test\/\?a=1#alert$/m)
  expect(text).toMatch(/^Calls: https:\/\/callwatch\.test\/\?a=1#calls$/m)
  expect(text).toMatch(/^Silence: https:\/\/callwatch\.test\/#silence$/m)
  expect(text).toMatch(/^Also firing: Lower \(warning\) on staging$/m)
  expect(html).toContain('>Silence</a>')
  const ended = of({ ...message, alerts: [{ notification: RESOLVED, flaps: 0, links }] })
  expect(ended.text).not.toContain('Silence')
})

test('of many alerts ten are shown, the first three with their facts, and the number of the others with a link to the page', () => {
  const alerts = [...Array(30).keys()].map((i) => ({ ...FIRING, key: `A${i}`, alert: `A${i}` }))
  const links = { overview: 'https://callwatch.test/', silence: 'https://callwatch.test/#silences' }
  const { text } = of(messageOf(alerts, { links }))
  expect(text.match(/^Outcomes: /gm)).toHaveLength(3)
  expect(text).toMatch(/^\[firing\] A9: 17 of 40 calls.*\nand 20 more$/m)
  expect(text).toMatch(/^Overview: https:\/\/callwatch\.test\/$/m)
})

test.each(WIDE)('a mail about one target has at most 25,000 characters, however long a text of %j is', (character) => {
  for (const count of [1, 100]) {
    const { text, html } = of(longestMessage(character.repeat(5000), count))
    expect(Math.max(text.length, html.length)).toBeLessThan(25_000)
  }
})

test('of many targets a report shows the twenty with the largest share of failed calls', () => {
  const [row] = FIRST.report.rows
  const failing = { ...row!, target: 'failing', failure_ratio: 0.5 }
  const rows = [...Array.from({ length: 299 }, () => row!), failing]
  const { text } = of({ ...DAILY, report: { ...DAILY.report, rows } })
  expect(text.match(/ participant minutes/g)).toHaveLength(21)
  expect(text.indexOf('failing')).toBeLessThan(text.indexOf(`\n${row!.target}\n`))
  expect(text).toMatch(/^and 280 more$/m)
})

test('a report is attached as CSV', () => {
  const attachments = of(DAILY).attachments ?? []
  expect(attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
    ['callwatch-2026-11-19.csv', 'text/csv; charset=utf-8'],
  ])
  expect(attachments[0]!.content).toBe(reportCsv(DAILY.report, 'csv'))
  expect(of(STORE_FAILING).attachments).toBeUndefined()
})

test('a message that was delivered late says so', () => {
  const late = emailMessage(messageOf([FIRING], { failingSince: AT }), { now: AT + 600 })
  expect(late.text).toMatch(/^First tried .*, delivered 10m later\.$/m)
})

test('no text of a configuration adds a line to the subject, a tag to the HTML, or a link of another kind', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      const { subject, text, html } = of(message)
      expect(subject.length).toBeLessThanOrEqual(200)
      expect(subject).not.toMatch(/[\r\n]|\p{Cc}|(?![\u200C\u200D])\p{Cf}/u)
      expect(subject.isWellFormed() && text.isWellFormed() && html.isWellFormed()).toBe(true)
      const tags = new Set(html.match(/<[^>]*>/g)?.map((tag) => /^<\/?([\w!]*)/.exec(tag)?.[1]))
      const known = ['!DOCTYPE', 'html', 'head', 'meta', 'body', 'h3', 'p', 'br', 'table', 'tr', 'td', 'small', 'a']
      expect([...tags].filter((tag) => !known.includes(tag ?? ''))).toEqual([])
      expect(html.match(/href="(?!https?:)/)).toBeNull()
    }),
  )
})
