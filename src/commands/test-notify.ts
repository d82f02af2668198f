import type { AlertInstance, Evidence } from '../alerts/alert-instance.ts'
import { notificationOf, type Notification } from '../alerts/notification.ts'
import type { Rule } from '../alerts/rule.ts'
import { systemClock } from '../clock/clock.ts'
import { secretsOf } from '../config/secrets.ts'
import type { Message } from '../notifications/message.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { configuredReceivers, takesMessages } from '../notifications/configured-receivers.ts'
import { LOG } from '../notifications/log-receiver.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { messageReceiverNames } from '../notifications/receivers.ts'
import { createLogger } from '../log/logger.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import type { Declare } from './command.ts'

/** An alert at one time of the sample incident. */
type Example = { instance: AlertInstance; notification: Notification }

/** Sends a sample firing and a sample resolved notification to every receiver. Succeeds if all of them are accepted. */
export const declare: Declare = (command, { configured, print, stdout, succeed }) =>
  void command.action(async (options) => {
    const config = await configured(options)
    const mask = maskSecrets(secretsOf(config))
    const log = createLogger({ level: 'info', mask, stream: stdout })
    const created = await configuredReceivers(config.notify, {
      clock: systemClock,
      log: ({ fields, text }) => log.warn(fields, text),
    })
    const receivers = created.map(({ receiver }) => receiver)
    if (receivers.some(({ name }) => name === LOG)) {
      print(`neither ${messageReceiverNames.join(' nor ')} is configured: notifying the log`)
    }
    if (config.http.publicUrl === undefined) print('messages have links once `http.public_url` is set')
    for (const receiver of receivers) {
      const { name } = receiver
      for (const example of examples(config.targets[0]!.name, systemClock.wall())) {
        const { kind } = example.notification
        const deliver = deliveryOf(receiver, example)
        if (deliver === undefined) continue
        try {
          await deliver()
          print(`${name}: the sample "${kind}" was accepted`)
        } catch (error) {
          if (!(error instanceof DeliveryError)) throw error
          succeed(false)
          print(mask(`${name}: the sample "${kind}" failed: ${error.message}`))
        }
      }
    }
  })

/** The function that delivers a sample; undefined if the receiver takes no alerts. */
function deliveryOf(receiver: Receiver, { instance, notification }: Example): (() => Promise<unknown>) | undefined {
  if (takesMessages(receiver)) return () => receiver.send(messageOf(notification))
  const { kind, target } = notification
  const alerts = () => (kind === 'firing' ? [{ target, instance }] : [])
  return receiver.refresh({ alerts, isWorking: () => false, interval: () => 0 })
}

const RULE: Rule = {
  name: 'SampleAlert',
  signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
  severity: 'info',
  breach: 'above',
  threshold: 0.3,
  clear: 0.2,
  match: {},
  by: [],
  for: 120,
  keepFiringFor: 0,
  repeat: 0,
  description: 'A sample sent by `callwatch test-notify`. Nothing is wrong.',
}

function examples(target: string, now: number): Example[] {
  const fired: AlertInstance = {
    key: RULE.name,
    labels: {},
    rule: RULE,
    state: 'firing',
    since: now - 720,
    firingSince: now - 600,
    credited: 120,
    evaluatedAt: now,
    value: 0.425,
    peak: 0.425,
    calls: 40,
    counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
    tooFewSince: undefined,
    lastNotifiedAt: now - 600,
  }
  const ended: AlertInstance = {
    ...fired,
    state: 'recovering',
    value: 0.1,
    counts: { ended: 36, unanswered: 3, rejected: 1, canceled: 0, other: 0, total: 40 },
  }
  const contributor = { label: 'type', value: 'video', failures: 14, ofFailures: 17, calls: 22, ofCalls: 40 } as const
  const sample = (kind: 'firing' | 'resolved', instance: AlertInstance, evidence: Evidence) => ({
    instance,
    notification: notificationOf({ kind }, { target, instance: { ...instance, evidence } }, now),
  })
  return [
    sample('firing', fired, { contributor, trend: [0.1, 0.12, 0.08, 0.1, 0.09, 0.15, 0.3, 0.425] }),
    sample('resolved', ended, { trend: [0.09, 0.15, 0.3, 0.425, 0.4, 0.3, 0.2, 0.1] }),
  ]
}

function messageOf(notification: Notification): Message {
  const { target, severity, alert } = notification
  return {
    kind: 'alerts',
    group: { alert, severity },
    target,
    severity,
    route: undefined,
    incident: undefined,
    begun: notification.firingSince,
    targets: 1,
    alerts: [{ notification, flaps: 0 }],
    unchanged: [],
    flapped: [],
    silenced: [],
    inhibited: [],
  }
}
