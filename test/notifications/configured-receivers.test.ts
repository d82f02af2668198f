import { expect, test } from 'vitest'
import { configuredReceivers } from '../../src/notifications/configured-receivers.ts'
import type { NotifyConfig } from '../../src/notifications/notify-section.ts'
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
])('%j are configured: %j are notified', async (configured, names) => {
  const notify: NotifyConfig = { groupWait: 10, receivers: [], routes: [], inhibit: [], mutes: [], ...configured }
  const receivers = await configuredReceivers(notify, { clock: virtualClock(), log: () => undefined })
  expect(receivers.map(({ name }) => name)).toEqual(names)
})
