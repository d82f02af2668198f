import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../../src/clock/clock.ts'
import { emailMessage } from '../../../../src/notifications/receivers/email/email-message.ts'
import { slackMessage } from '../../../../src/notifications/receivers/slack/slack-message.ts'
import { reportMaker } from '../../../../src/notifications/report-maker.ts'
import { formatNumber, formatShare } from '../../../../src/text/format.ts'
import { withoutNoise } from '../../../../src/text/without-noise.ts'
import { messageView } from '../../../../src/notifications/receivers/webhook/webhook-body.ts'
import type { Report } from '../../../../src/views/report.ts'
import { Usage } from '../../../../src/web/page/components/usage.tsx'
import { callwatch } from '../../../kit/commands/callwatch.ts'
import { storeInUse } from '../../../kit/commands/store-in-use.ts'
import { callsIn, fillOctober, NAMES, NOW, OCTOBER, plainOf, unix, ZONE } from '../../../kit/history/october.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, stateOf, textOf } from './render-text.ts'

/** What a report says of a period, wherever it is shown. */
type Figures = { calls: number; failed: string; participantMinutes: string; userMinutes: string }

beforeEach(() => {
  vi.stubEnv('TZ', ZONE)
  vi.spyOn(systemClock, 'wall').mockReturnValue(NOW)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** `96 calls (+12%), 8,310 participant minutes, 9,008 user minutes (±0%), 4.2% failed`. */
function inLine(text: string): Figures {
  const [, calls = '', participants = '', users = '', failed = ''] =
    /([\d,]+) calls[^,]*, ([\d,]+) participant minutes[^,]*, ([\d,]+) user minutes[^,]*, ([\d.]+%) failed/.exec(text) ??
    []
  return { calls: Number(calls), failed, participantMinutes: participants, userMinutes: users }
}

function inCsv(text: string): Figures {
  const [names = [], ...rows] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','))
  const total = rows.at(-1)!
  const of = (name: string) => Number(total[names.indexOf(name)])
  return figures(of('calls'), of('failure_ratio'), of('participant_minutes'), of('user_minutes'))
}

const figures = (calls: number, ratio: number, participants: number, users: number): Figures => ({
  calls,
  failed: formatShare(ratio),
  participantMinutes: formatNumber(participants, 0),
  userMinutes: formatNumber(users, 0),
})

function inPage(report: Report): Figures {
  const usage = { request: '', answer: { report, chart: undefined }, problem: undefined, asOf: '' }
  const elements = render(Usage, stateOf([shownTarget()], { view: 'usage', usage }))
  const of = (id: string) => textOf(elements, { id }) ?? ''
  const whole = (text: string) => formatNumber(Number(text.replace(',', '')), 0)
  const minutes = { participantMinutes: whole(of('used-minutes')), userMinutes: whole(of('used-user-minutes')) }
  return { calls: Number(of('used-calls')), failed: of('used-failed'), ...minutes }
}

describe('a report has one figure in each place', () => {
  test.each([
    ['a month of which four days before it are known, and in which a target was added', 'month', OCTOBER],
    [
      'the day on which the clocks change',
      'day',
      { since: '2026-10-24T22:00:00.000Z', until: '2026-10-25T23:00:00.000Z' },
    ],
    ['the last day of the month', 'day', { since: '2026-10-30T23:00:00.000Z', until: '2026-10-31T23:00:00.000Z' }],
  ] as const)('of %s', async (_what, every, period) => {
    const { store, config } = storeInUse(NAMES)
    await fillOctober(store)
    const { calls, failed, participantMinutes, userMinutes } = plainOf(callsIn(period, ...NAMES))
    const expected = figures(calls, failed / calls, participantMinutes, userMinutes)

    const asked = ['report', '--config', config, '--since', period.since, '--until', period.until, '--zone', ZONE]
    const [text = '', csv = '', json = ''] = await Promise.all(
      [[], ['--format', 'csv'], ['--json']].map(async (format) => (await callwatch([...asked, ...format])).stdout),
    )
    const report: Report = JSON.parse(json)
    const make = reportMaker({ clock: systemClock, store, targets: () => NAMES, rules: () => [] })
    const [from, to] = [unix(period.since), unix(period.until)]
    const message = (await make({ every, due: to + 1, from, to, timezone: ZONE }))!
    const mail = emailMessage(message, { now: NOW })
    const body = messageView(message, NOW)
    const [sql] = await store.rows(
      `SELECT count(*) AS calls, avg(CASE WHEN status = 'ended' THEN 0.0 ELSE 1.0 END) AS failed,
        sum(participant_audio_minutes + participant_video_minutes) AS participants,
        sum(CASE WHEN status = 'ended' THEN duration_seconds / 60 * participants ELSE 0 END) AS users
      FROM callwatch.call_history WHERE finished >= $1 AND finished < $2 AND status <> 'lost'`,
      [from, to],
    )

    const of = (name: string) => Number(sql?.[name])
    const inSql = [of('calls'), of('failed'), of('participants'), of('users')] as const
    expect({
      command: inLine(text),
      csv: inCsv(csv),
      page: inPage(report),
      slack: inLine(JSON.stringify(slackMessage(message, { now: NOW }))),
      mail: inLine(mail.text),
      attachment: inCsv(String(mail.attachments?.[0]?.content)),
      webhook: inLine(body.kind === 'report' ? body.summary : ''),
      sql: figures(...inSql),
    }).toEqual(
      Object.fromEntries(
        ['command', 'csv', 'page', 'slack', 'mail', 'attachment', 'webhook', 'sql'].map((place) => [place, expected]),
      ),
    )
    expect(withoutNoise(body)).toMatchObject({ report })
  })
})
