import { expect, test } from 'vitest'
import { configuredReceivers, takesMessages } from '../../../src/notifications/configured-receivers.ts'
import type { NotifyConfig } from '../../../src/notifications/notify-section.ts'
import { text } from 'node:stream/consumers'
import { localServer } from '../../kit/commands/local-server.ts'
import { messageOf, FIRING } from '../../kit/notifications/sample.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const SLACK = { webhookUrl: 'https://hooks.slack.test/services/x' }
const WEBHOOK = { url: 'https://receiver.test/', format: 'callwatch' as const, headers: {} }
const ALERTMANAGER = { url: 'http://alertmanager:9093' }

const slack = (name = 'slack', config = SLACK) => ({ name, type: 'slack' as const, config })
const webhook = (name = 'webhook', format: 'callwatch' | 'alertmanager' = 'callwatch', url = WEBHOOK.url) => {
  return { name, type: 'webhook' as const, config: { ...WEBHOOK, url, format } }
}
const alertmanager = (name = 'alertmanager') => ({ name, type: 'alertmanager' as const, config: ALERTMANAGER })
const notifyOf = (...receivers: NotifyConfig['receivers']): NotifyConfig => {
  return {
    groupBy: ['alert', 'severity'],
    groupWait: 20,
    groupInterval: 300,
    receivers,
    routes: [],
    inhibit: [],
    mutes: [],
    reports: [],
  }
}

test.each<[NotifyConfig['receivers'], string[]]>([
  [[], ['log']],
  [[slack()], ['slack']],
  [
    [slack(), webhook()],
    ['slack', 'webhook'],
  ],
  // It takes alerts, but no report and no word of the store.
  [[alertmanager()], ['log']],
  [[alertmanager(), webhook()], ['webhook']],
  [[alertmanager('am')], ['log']],
  [
    [slack(), slack('second'), alertmanager('am'), webhook('third')],
    ['slack', 'second', 'third'],
  ],
])('%j are configured: %j take messages', async (configured, names) => {
  const notify = notifyOf(...configured)
  const receivers = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined })
  expect(receivers.flatMap(({ receiver }) => (takesMessages(receiver) ? receiver.name : []))).toEqual(names)
})

test('only webhooks in the format of Alertmanager get what Alertmanager would send', async () => {
  const notify = notifyOf(slack(), webhook('relay', 'alertmanager'), webhook('other'))
  const created = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined })
  const all = created.map(({ receiver }) => receiver).filter(takesMessages)
  expect(all.map(({ name, isLikeAlertmanager = false }) => [name, isLikeAlertmanager])).toEqual([
    ['slack', false],
    ['relay', true],
    ['other', false],
  ])
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
    const dashboard = { ...SLACK, dashboardUrl: 'https://grafana.test/d' }
    const notify = notifyOf(slack('slack', dashboard), webhook('relay', 'alertmanager', url))
    const receivers = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined, pageUrl })
    const { send } = receivers.map(({ receiver }) => receiver).filter(takesMessages)[1]!
    await send(messageOf([FIRING]))
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([{ receiver: 'relay', externalURL: shown }])
  },
)
