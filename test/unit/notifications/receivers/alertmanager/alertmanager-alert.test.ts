import { describe, expect, test } from 'vitest'
import { notificationOf } from '../../../../../src/alerts/notification.ts'
import { alertKey } from '../../../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { alertmanagerAlert } from '../../../../../src/notifications/receivers/alertmanager/alertmanager-alert.ts'
import { descriptionOf, summaryOf } from '../../../../../src/alerts/text/alert-text.ts'
import { FAILURES, firingSince } from '../../../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'
import { AT } from '../../../../kit/notifications/sample.ts'

const TIMES = { now: AT, endsAt: AT + 300 }

test('an alert says what a message would say, in the labels that Alertmanager groups and silences by', () => {
  const firing = firingSince(AT - 60, { key: 'HighFailureRate{type="video"}', labels: { type: 'video' } })
  const notification = notificationOf({ kind: 'firing' }, firing, AT)
  expect(alertmanagerAlert(firing, TIMES, 'https://callwatch.test')).toEqual({
    labels: { alertname: 'HighFailureRate', severity: 'critical', target: 'production', type: 'video' },
    annotations: {
      summary: summaryOf(notification),
      description: descriptionOf(notification),
      value: '0.425',
      threshold: '0.3',
      calls: '40',
      runbook_url: 'https://runbooks.test/failures',
    },
    startsAt: '2026-11-20T08:14:30.000Z',
    endsAt: '2026-11-20T08:20:30.000Z',
    generatorURL:
      'https://callwatch.test/?target=production&alert=HighFailureRate&type=video&since=2026-11-20T08%3A14%3A30.000Z#alert',
  })
})

test('what is not known is left out', () => {
  const { runbookUrl: _url, description: _description, ...rule } = FAILURES
  const { target, instance } = firingSince(AT, { calls: undefined })
  const alert = alertmanagerAlert({ target, instance: { ...instance, rule } }, TIMES)
  expect(Object.keys(alert.annotations).toSorted()).toEqual(['summary', 'threshold', 'value'])
  expect(alert).not.toHaveProperty('generatorURL')
})

test('a recovering alert has the value as it is in Alertmanager, and does not say that it is beyond the threshold', () => {
  const recovering = firingSince(AT - 600, { state: 'recovering', value: 0.1 })
  const firing = firingSince(AT - 600, { value: 0.4 })
  const [back, past] = [recovering, firing].map((one) => alertmanagerAlert(one, TIMES).annotations)
  expect(back).toMatchObject({ value: '0.1', threshold: '0.3' })
  expect(past!['summary']).toContain(', above the threshold')
  expect(back!['summary']).not.toContain(', above the threshold')
})

describe('an alert that would begin after it ends, which Alertmanager refuses,', () => {
  test.each([
    ['the clock was set back while it fired', { now: AT - 3600, endsAt: AT - 3300 }, '2026-11-20T07:15:30.000Z'],
    ['it ended before it began', { now: AT + 9, endsAt: AT - 3600 }, '2026-11-20T07:15:30.000Z'],
  ])('begins earlier: %s', (_case, times, startsAt) => {
    expect(alertmanagerAlert(firingSince(AT), times).startsAt).toBe(startsAt)
  })
})

test('alerts in Alertmanager differ by exactly what their labels differ by', () => {
  const alerts = [
    firingSince(AT),
    firingSince(AT - 5, { value: 0.9, rule: { threshold: 0.2 } }),
    { ...firingSince(AT), target: 'staging' },
    firingSince(AT, { rule: { severity: 'warning' } }),
    firingSince(AT, { key: 'HighFailureRate{type="video"}', labels: { type: 'video' } }),
    firingSince(AT, { rule: { name: 'Other' } }),
  ]
  const labels = alerts.map((alert) => JSON.stringify(alertmanagerAlert(alert, TIMES).labels))
  const keys = alerts.map(alertKey)
  expect([new Set(labels).size, new Set(keys).size]).toEqual([5, 5])
  expect(keys[1]).toBe(keys[0])
})
