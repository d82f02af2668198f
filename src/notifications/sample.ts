import { incidentsOf } from '../alerts/incidents.ts'
import { instanceOf, type Notification } from '../alerts/notification.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { takesMessages } from './configured-receivers.ts'
import type { Message } from './message.ts'
import type { Receiver } from './receiver.ts'

/** What became of a sample: what it was, and the problems of the deliveries that failed. */
export type Sample = { receiver: string; what: string; problems: readonly string[] }

/**
 * Sends each of these receivers a sample that an alert fires, and one that it is resolved; a heartbeat instead to those that take none. One
 * after the other for those of one name, as a mail has one for each recipient.
 *
 * @param target whose alert it is said to be
 * @param now UNIX seconds
 */
export async function* sendSamples(
  receivers: readonly Receiver[],
  target: string,
  now: number,
): AsyncGenerator<Sample> {
  for (const [name, own] of Map.groupBy(receivers, (receiver) => receiver.name))
    for (const example of examples(target, now)) {
      const deliveries = own.flatMap((receiver) => deliveryOf(receiver, example) ?? [])
      if (deliveries.length === 0) continue
      const what = own.some((one) => 'isHeartbeat' in one) ? 'the heartbeat' : `the sample "${example.kind}"`
      const problems = await Promise.all(deliveries.map(problemOf))
      yield { receiver: name, what, problems: problems.filter((problem) => problem !== undefined) }
    }
}

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
  const { kind, target, severity, alert } = notification
  const group = { alert, severity }
  const firing = kind === 'firing' ? [{ target, instance: instanceOf(notification) }] : []
  return {
    kind: 'alerts',
    group,
    target,
    severity,
    route: undefined,
    incident: incidentsOf(firing, () => ({ key: alert, labels: group }), 1)[0],
    id: `test ${kind}`,
    about: kind === 'firing' ? 'begins' : 'ended',
    thread: kind === 'firing' ? undefined : 'test firing',
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
