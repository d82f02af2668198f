import { expect, test } from 'vitest'
import { replaceTimes, withZone } from '../../../../src/notifications/text/times.ts'
import { emailMessage } from '../../../../src/notifications/receivers/email/email-message.ts'
import { slackMessage } from '../../../../src/notifications/receivers/slack/slack-message.ts'
import { AT, FIRING, messageOf } from '../../../kit/notifications/sample.ts'

test.each([
  ['at 2026-11-20 08:15:30 UTC', AT],
  ['since 08:15:30 UTC', AT],
  // Midnight has passed since.
  ['since 23:59:58 UTC', Date.UTC(2026, 10, 19, 23, 59, 58) / 1000],
  ['at 99:99:99 UTC, 1:02:03 UTC', undefined],
])('the time in %j is found', (text, expected) => {
  const found: number[] = []
  replaceTimes(text, AT + 60, (seconds, whole) => {
    found.push(seconds)
    return whole
  })
  expect(found).toEqual(expected === undefined ? [] : [expected])
})

test('Slack shows each reader the times of a message in the own zone, but in its title', () => {
  const { blocks, text } = slackMessage(messageOf([FIRING]), { now: AT })
  expect(JSON.stringify(blocks)).toContain(
    `*Since*\\n<!date^${AT - 120}^{date_num} {time_secs}|2026-11-20 08:13:30 UTC> (2m)`,
  )
  expect(text).not.toContain('<!date')
})

test('a mail has the times of a zone beside those in UTC, with the date where that differs', () => {
  expect(withZone('since 08:15:30 UTC', AT, 'Europe/Berlin')).toBe('since 08:15:30 UTC (09:15:30 Europe/Berlin)')
  const late = '2026-11-20 23:30:00 UTC'
  expect(withZone(late, AT, 'Asia/Kolkata')).toBe(`${late} (2026-11-21 05:00:00 Asia/Kolkata)`)
  const options = { now: AT }
  const mail = emailMessage(messageOf([FIRING]), { ...options, timezone: 'Asia/Kolkata' })
  expect(mail.text).toContain('Since: 2026-11-20 08:13:30 UTC (13:43:30 Asia/Kolkata) (2m)')
  expect(emailMessage(messageOf([FIRING]), options).text).not.toContain('Kolkata')
})
