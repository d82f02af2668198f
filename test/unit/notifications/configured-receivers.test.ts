import { expect, test } from 'vitest'
import { configuredReceivers, takesMessages } from '../../../src/notifications/configured-receivers.ts'
import type { NotifyConfig } from '../../../src/notifications/notify-section.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const SLACK = { webhookUrl: 'https://hooks.slack.test/services/x' }
const WEBHOOK = { url: 'https://receiver.test/', headers: {} }
const ALERTMANAGER = { url: 'http://alertmanager:9093' }

const slack = (name = 'slack') => ({ name, type: 'slack' as const, config: SLACK })
const webhook = (name = 'webhook') => ({ name, type: 'webhook' as const, config: WEBHOOK })
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
  [[], []],
  [[slack()], ['slack']],
  [
    [slack(), webhook()],
    ['slack', 'webhook'],
  ],
  // It takes alerts, but no report and no word of the store.
  [[alertmanager()], []],
  [[alertmanager(), webhook()], ['webhook']],
  [[alertmanager('am')], []],
  [
    [slack(), slack('second'), alertmanager('am'), webhook('third')],
    ['slack', 'second', 'third'],
  ],
])('%j are configured: %j take messages', async (configured, names) => {
  const notify = notifyOf(...configured)
  const receivers = await configuredReceivers(notify, { clock: virtualClock() })
  expect(receivers.flatMap(({ receiver }) => (takesMessages(receiver) ? receiver.name : []))).toEqual(names)
})
