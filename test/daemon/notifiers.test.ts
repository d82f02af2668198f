import { pino } from 'pino'
import { expect, test } from 'vitest'
import { notifiersOf } from '../../src/daemon/notifiers.ts'
import type { NotifyConfig } from '../../src/config/config.ts'
import { virtualClock } from '../clock/virtual-clock.ts'

const SLACK = { webhookUrl: 'https://hooks.slack.test/services/x' }
const WEBHOOK = { url: 'https://receiver.test/', headers: {} }
const ALERTMANAGER = { url: 'http://alertmanager:9093' }

test.each<[Partial<NotifyConfig>, string[]]>([
  [{}, ['log']],
  [{ slack: SLACK }, ['slack']],
  [{ slack: SLACK, webhook: WEBHOOK }, ['slack', 'webhook']],
  // It takes alerts, but no digest and no word of the store.
  [{ alertmanager: ALERTMANAGER }, ['log']],
  [{ alertmanager: ALERTMANAGER, webhook: WEBHOOK }, ['webhook']],
])('%j is told by %j', (configured, names) => {
  const notify: NotifyConfig = { groupWait: 10, routes: [], mutes: [], ...configured }
  const notifiers = notifiersOf({ notify }, virtualClock(), pino({ level: 'silent' }))
  expect(notifiers.map(({ name }) => name)).toEqual(names)
})
