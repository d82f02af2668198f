import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertmanagerView } from '../../../../../src/views/messages/alertmanager.ts'
import { anyMessage } from '../../any-message.ts'
import {
  AT,
  DAILY,
  FIRING,
  messageOf,
  REMINDER,
  RESOLVED,
  STORE_FAILING,
  TOO_FEW,
} from '../../../../kit/notifications/sample.ts'

const SOURCES = { receiver: 'chat', pageUrl: 'https://callwatch.test/' }
const of = (message: Parameters<typeof alertmanagerView>[0]) => alertmanagerView(message, SOURCES)

test('a firing alert is as Alertmanager would post it', () => {
  const labels = { alertname: 'HighFailureRate', severity: 'critical', target: 'production' }
  const annotations = {
    summary: '17 of 40 calls that finished in the last 15m failed: 42.5%, above the threshold of 30%',
    description: 'Many of the calls of the last 15m failed. Ask the carrier.',
    value: '0.425',
    threshold: '0.3',
    calls: '40',
    runbook_url: 'https://runbooks.test/failures',
  }
  expect(of(messageOf([FIRING]))).toEqual({
    version: '4',
    groupKey: '{}:{severity="critical", target="production"}',
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'chat',
    groupLabels: { target: 'production', severity: 'critical' },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: 'https://callwatch.test/',
    alerts: [
      {
        status: 'firing',
        labels,
        annotations,
        startsAt: '2026-11-20T08:15:30.000Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'https://callwatch.test/',
        fingerprint: expect.stringMatching(/^[\da-f]{16}$/),
      },
    ],
  })
})

test.each([
  [REMINDER, 'firing', '0001-01-01T00:00:00Z'],
  [RESOLVED, 'resolved', '2026-11-20T08:15:30.000Z'],
  [TOO_FEW, 'resolved', '2026-11-20T08:15:30.000Z'],
])('$kind is one of the two states that there are', (notification, status, endsAt) => {
  expect(of(messageOf([notification]))).toMatchObject({ status, alerts: [{ status, endsAt }] })
})

test('what fired and resolved between deliveries has resolved; one firing alert makes the message firing', () => {
  const flapped = [{ notification: { ...FIRING, alert: 'Brief' }, times: 2, peak: 0.5, endedAt: AT + 60 }]
  const brief = {
    status: 'resolved',
    labels: { alertname: 'Brief' },
    annotations: { summary: expect.stringMatching(/^fired and ended 2 times, worst 50%/) },
    endsAt: '2026-11-20T08:16:30.000Z',
  }
  expect(of({ ...messageOf([]), flapped })).toMatchObject({ status: 'resolved', alerts: [brief] })
  expect(of({ ...messageOf([FIRING]), flapped })).toMatchObject({
    status: 'firing',
    commonLabels: { severity: 'critical', target: 'production' },
    alerts: [{ status: 'firing' }, brief],
  })
})

test('an alert has the same page in each message: when it changed, when another one did, and when it came and went', () => {
  const links = { alert: 'https://callwatch.test/#alert', silence: 'https://callwatch.test/#silences' }
  const update = { notification: FIRING, flaps: 0, links }
  const flapped = [{ notification: FIRING, times: 1, peak: 0.5, endedAt: AT, links }]
  const pages = [{ alerts: [update] }, { unchanged: [update] }, { flapped }].map(
    (differing) => of({ ...messageOf([]), ...differing })?.alerts[0]?.generatorURL,
  )
  expect(pages).toEqual([links.alert, links.alert, links.alert])
})

test('a problem of the store is an alert of callwatch, which resolves; a report has no such form', () => {
  const labels = { alertname: 'CallwatchStoreNotWritable', severity: 'critical' }
  const failing = of(STORE_FAILING)
  const recovered = of({ ...STORE_FAILING, state: 'recovered', at: AT + 60 })
  expect(failing).toMatchObject({ status: 'firing', alerts: [{ labels, status: 'firing' }] })
  expect(recovered).toMatchObject({ status: 'resolved', alerts: [{ labels, status: 'resolved' }] })
  expect(recovered?.alerts[0]?.fingerprint).toBe(failing?.alerts[0]?.fingerprint)
  expect(recovered?.alerts[0]?.startsAt).toBe(failing?.alerts[0]?.startsAt)
  expect(of(DAILY)).toBeUndefined()
})

test('whatever a message is made of, times are RFC 3339 and all values of labels are texts', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      for (const { labels, annotations, startsAt, endsAt } of of(message)?.alerts ?? []) {
        expect([...Object.values(labels), ...Object.values(annotations)].every((one) => typeof one === 'string')).toBe(
          true,
        )
        for (const time of [startsAt, endsAt])
          expect(time).toMatch(/^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
      }
    }),
  )
})
