import { expect, test } from 'vitest'
import { slackMessage } from '../../../src/notifications/receivers/slack/slack-message.ts'
import { AT, FIRING, messageOf, REMINDER, REMOVED, RESOLVED, update } from '../../kit/notifications/sample.ts'
import { readMessage } from './failing-slack.ts'

const flapped = { notification: FIRING, times: 1, peak: 0.5, endedAt: RESOLVED.at }

test.for([
  ['a firing alert', messageOf([FIRING]), 'firing', 0],
  ['a reminder', messageOf([REMINDER], { about: 'reminder' }), 'firing', 0],
  ['a firing alert that flapped', messageOf([update(FIRING, 3)]), 'firing', 3],
  ['a resolved alert', messageOf([RESOLVED]), 'resolved', 0],
  ['a resolved alert that flapped once', messageOf([update(RESOLVED, 1)]), 'resolved', 1],
  ['an expired alert', messageOf([REMOVED]), 'expired', 0],
  ['an alert that came and went', messageOf([], { flapped: [flapped] }), 'flapped', 1],
  ['an alert that came and went four times', messageOf([], { flapped: [{ ...flapped, times: 4 }] }), 'flapped', 4],
  ['an alert that came and expired', messageOf([], { flapped: [{ ...flapped, hasExpired: true }] }), 'flapped', 1],
] as const)('chaos reads what Slack is told of %s', ([, message, kind, cycles]) => {
  const body = JSON.stringify(slackMessage(message, { now: AT }))
  expect(readMessage(body, 1)).toMatchObject({
    alert: message.alerts[0]?.notification.alert ?? 'HighFailureRate',
    target: 'production',
    kind,
    cycles,
  })
})

test('chaos refuses a message that it cannot read', () => {
  const body = JSON.stringify({ text: '🔴 better: HighFailureRate on production' })
  expect(() => readMessage(body, 1)).toThrow('no message of an alert: 🔴 better')
})
