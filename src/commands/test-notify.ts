import { instanceOf, type Notification } from '../alerts/notification.ts'
import { systemClock } from '../clock/clock.ts'
import { secretsOf } from '../config/secrets.ts'
import type { Message } from '../notifications/message.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { configuredReceivers, takesMessages } from '../notifications/configured-receivers.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { messageReceiverNames } from '../notifications/receivers.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import type { Declare } from './command.ts'

/** Sends a sample firing and a sample resolved notification to every receiver, and each heartbeat. Succeeds if all of them are accepted. */
export const declare: Declare = (command, { configured, print, succeed }) =>
  void command.action(async (options) => {
    const config = await configured(options)
    const mask = maskSecrets(secretsOf(config))
    const created = await configuredReceivers(config.notify, { clock: systemClock })
    const receivers = created.map(({ receiver }) => receiver)
    if (!receivers.some(takesMessages))
      print(`neither ${messageReceiverNames.join(' nor ')} is configured: alerts and reports are lines of the log`)
    if (config.http.publicUrl === undefined) print('messages have links once `http.public_url` is set')
    for (const [name, own] of Map.groupBy(receivers, (receiver) => receiver.name))
      for (const example of examples(config.targets[0]!.name, systemClock.wall())) {
        const deliveries = own.flatMap((receiver) => deliveryOf(receiver, example) ?? [])
        if (deliveries.length === 0) continue
        const sample = own.some((one) => 'isHeartbeat' in one) ? 'the heartbeat' : `the sample "${example.kind}"`
        const problems = await Promise.all(deliveries.map(problemOf))
        const failed = problems.filter((problem) => problem !== undefined)
        if (failed.length === 0) print(`${name}: ${sample} was accepted`)
        else succeed(false)
        for (const problem of failed) print(mask(`${name}: ${sample} failed: ${problem}`))
      }
  })

/** Why a delivery failed. */
async function problemOf(deliver: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await deliver()
    return undefined
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    return error.message
  }
}

/** The function that delivers a sample; undefined if the receiver needs nothing more. */
function deliveryOf(receiver: Receiver, notification: Notification): (() => Promise<unknown>) | undefined {
  if (takesMessages(receiver)) return () => receiver.send(messageOf(notification))
  const { kind, target } = notification
  if (receiver.isHeartbeat === true && kind !== 'firing') return undefined
  const alerts = () => (kind === 'firing' ? [{ target, instance: instanceOf(notification) }] : [])
  return receiver.refresh({ alerts, isWorking: () => true, interval: () => 0 })
}

/** A sample alert that fires, and that it is resolved. */
function examples(target: string, at: number): Notification[] {
  const firing: Notification = {
    kind: 'firing',
    target,
    alert: 'SampleAlert',
    key: 'SampleAlert',
    signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
    severity: 'info',
    breach: 'above',
    threshold: 0.3,
    clear: 0.2,
    match: {},
    by: [],
    labels: {},
    for: 120,
    keepFiringFor: 0,
    repeat: 0,
    description: 'A sample sent by `callwatch test-notify`. Nothing is wrong.',
    since: at - 720,
    firingSince: at - 600,
    at,
    value: 0.425,
    peak: 0.425,
    calls: 40,
    counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
    contributor: { label: 'type', value: 'video', failures: 14, ofFailures: 17, calls: 22, ofCalls: 40 },
    trend: [0.1, 0.12, 0.08, 0.1, 0.09, 0.15, 0.3, 0.425],
  }
  const resolved: Notification = {
    ...firing,
    kind: 'resolved',
    threshold: firing.clear,
    value: 0.1,
    counts: { ended: 36, unanswered: 3, rejected: 1, canceled: 0, other: 0, total: 40 },
    contributor: undefined,
    trend: [0.09, 0.15, 0.3, 0.425, 0.4, 0.3, 0.2, 0.1],
  }
  return [firing, resolved]
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
    id: `test ${notification.kind}`,
    about: notification.kind === 'firing' ? 'begins' : 'ended',
    thread: notification.kind === 'firing' ? undefined : 'test firing',
    unanswered: [],
    elsewhere: [],
    targets: 1,
    alerts: [{ notification, flaps: 0 }],
    unchanged: [],
    flapped: [],
    silenced: [],
    inhibited: [],
  }
}
