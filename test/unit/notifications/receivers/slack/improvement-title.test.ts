import { expect, test } from 'vitest'
import { slackMessage } from '../../../../../src/notifications/receivers/slack/slack-message.ts'
import { AT, FIRING, incidentOf, messageOf, RESOLVED } from '../../../../kit/notifications/sample.ts'
import { slackProblems } from './slack-limits.ts'

test('the title of an improvement is within the limits of Slack, whatever the names', () => {
  const target = 'production-eu-central-1-video-platform-main'
  const name = 'FailureRateOfVideoCallsBetweenCustomersAndSupportIsTooHighNow'
  const one = { ...FIRING, target, alert: name, key: name, severity: 'warning' as const, labels: {} }
  const other = {
    ...RESOLVED,
    target,
    alert: `Very${name}`,
    key: `Very${name}`,
    severity: 'critical' as const,
    labels: {},
    signal: one.signal,
    match: one.match,
    breach: one.breach,
  }
  const message = messageOf([one, other], { target, severity: 'warning', incident: incidentOf([one], 1) })
  const made = slackMessage(message, { now: AT + 11 })
  expect(slackProblems(made)).toEqual([])
  expect(made.text).toContain(' improves: ')
})
