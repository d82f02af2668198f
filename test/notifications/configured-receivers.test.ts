import { expect, test } from 'vitest'
import { configuredReceivers, digestRecipients, takesMessages } from '../../src/notifications/configured-receivers.ts'
import type { NotifyConfig } from '../../src/notifications/notify-section.ts'
import { text } from 'node:stream/consumers'
import { localServer } from '../commands/local-server.ts'
import { messageOf, FIRING } from './sample.ts'
import { virtualClock } from '../clock/virtual-clock.ts'

const SLACK = { webhookUrl: 'https://hooks.slack.test/services/x' }
const WEBHOOK = { url: 'https://receiver.test/', format: 'callwatch' as const, headers: {} }
const ALERTMANAGER = { url: 'http://alertmanager:9093' }

test.each<[Partial<NotifyConfig>, string[]]>([
  [{}, ['log']],
  [{ slack: SLACK }, ['slack']],
  [{ slack: SLACK, webhook: WEBHOOK }, ['slack', 'webhook']],
  // It takes alerts, but no digest and no word of the store.
  [{ alertmanager: ALERTMANAGER }, ['log']],
  [{ alertmanager: ALERTMANAGER, webhook: WEBHOOK }, ['webhook']],
  [{ receivers: [{ name: 'am', alertmanager: ALERTMANAGER }] }, ['log']],
  [
    {
      slack: SLACK,
      receivers: [
        { name: 'second', slack: SLACK },
        { name: 'am', alertmanager: ALERTMANAGER },
        { name: 'third', webhook: WEBHOOK },
      ],
    },
    ['slack', 'second', 'third'],
  ],
])('%j are configured: %j take messages', async (configured, names) => {
  const notify: NotifyConfig = { groupWait: 10, receivers: [], routes: [], inhibit: [], mutes: [], ...configured }
  const receivers = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined })
  expect(receivers.flatMap(({ receiver }) => (takesMessages(receiver) ? receiver.name : []))).toEqual(names)
})

test('a digest is sent to all but webhooks in the format of Alertmanager, which has none', () => {
  const relay = { name: 'relay', webhook: { ...WEBHOOK, format: 'alertmanager' as const } }
  const other = { name: 'other', webhook: WEBHOOK }
  const notify: NotifyConfig = {
    groupWait: 10,
    slack: SLACK,
    receivers: [relay, other],
    routes: [],
    inhibit: [],
    mutes: [],
  }
  expect(digestRecipients(notify, ['slack', 'relay', 'other'])).toEqual(['slack', 'other'])
  expect(digestRecipients({ ...notify, webhook: relay.webhook }, ['webhook', 'log'])).toEqual(['log'])
})

test.each([
  [undefined, 'https://grafana.test/d'],
  ['https://callwatch.test/', 'https://callwatch.test/'],
])(
  'with the page at %s a receiver in the format of Alertmanager refers to %s, by its own name',
  async (pageUrl, shown) => {
    const bodies: string[] = []
    const { url } = await localServer((request, response) => {
      void text(request).then((body) => {
        bodies.push(body)
        response.end()
      })
    })
    const notify: NotifyConfig = {
      groupWait: 10,
      slack: { ...SLACK, dashboardUrl: 'https://grafana.test/d' },
      receivers: [{ name: 'relay', webhook: { url, format: 'alertmanager', headers: {} } }],
      routes: [],
      inhibit: [],
      mutes: [],
    }
    const receivers = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined, pageUrl })
    const { send } = receivers.map(({ receiver }) => receiver).filter(takesMessages)[1]!
    await send(messageOf([FIRING]))
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([{ receiver: 'relay', externalURL: shown }])
  },
)
