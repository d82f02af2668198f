import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Mask } from '../log/mask-secrets.ts'
import type { OperationalMetrics } from '../metrics/operational-metrics.ts'
import { recordDelivery } from '../metrics/record.ts'
import type { Message } from '../notifications/message.ts'
import { titleOf } from '../notifications/text/notification-text.ts'
import { formatNumber, formatSeconds, formatTime } from '../text/format.ts'
import type { AnyDelivery, DaemonEvent } from './daemon-event.ts'
import { afterText, ongoingProblems } from './ongoing-problems.ts'

export type DeliveryReportOptions = {
  log: Logger
  metrics: OperationalMetrics
  clock: Pick<Clock, 'wall' | 'monotonic'>
  /** Takes secrets out of a text. */
  mask: Mask
}

type Heartbeat = Extract<DaemonEvent, { kind: 'heartbeat' }>['heartbeat']

/** Reports what was sent to metrics and log: each message once, and a receiver that fails as one outage. */
export type DeliveryReport = {
  report: (delivery: AnyDelivery) => void
  reportHeartbeat: (heartbeat: Heartbeat) => void
  /** Logs what is due; to be called every few seconds. */
  tick: () => void
}

/** The receiver that logs. */
const LOG = 'log'
/** There is one. */
const HEARTBEAT = 'heartbeat'

export function deliveryReport({ log, metrics, clock, mask }: DeliveryReportOptions): DeliveryReport {
  const receivers = ongoingProblems(clock)
  const heartbeats = ongoingProblems(clock)

  function report(delivery: AnyDelivery): void {
    const { receiver, outcome, problem = '', error, message } = delivery
    recordDelivery(metrics, delivery)
    const fields = { receiver, ...(message && fieldsOf(message)) }
    if (error !== undefined) {
      log.error(
        { ...fields, stack: mask(inspect(error)) },
        `notification ${outcome}: internal error, a bug in callwatch; please report it with its stack`,
      )
      return
    }
    if (outcome === 'retried') {
      const isFirst = receivers.failed(receiver, problem)
      log[isFirst ? 'warn' : 'debug'](fields, `notification retried: ${mask(problem)}`)
      return
    }
    if (outcome === 'dropped') log.warn(fields, `notification dropped: ${mask(problem)}`)
    // Without a message it is a state that is repeated, and what the log itself receives is there already.
    else log[message === undefined || receiver === LOG ? 'debug' : 'info'](fields, `notification sent to ${receiver}`)
    const amount = receivers.ended(receiver)
    if (amount !== undefined) {
      log.info({ receiver }, `${receiver} is no longer retried${afterText(amount, 'attempt')}`)
    }
  }

  function reportHeartbeat({ outcome, problem = '' }: Heartbeat): void {
    if (outcome === 'failed') {
      if (heartbeats.failed(HEARTBEAT, problem)) log.warn(`the heartbeat failed: ${mask(problem)}`)
      return
    }
    const amount = heartbeats.ended(HEARTBEAT)
    if (amount !== undefined) log.info(`the heartbeat was sent again${afterText(amount, 'heartbeat')}`)
  }

  function tick(): void {
    const lasted = ({ since, seconds, failures, problem }: ReturnType<typeof receivers.due>[number]) =>
      `since ${formatTime(since)} (${formatSeconds(seconds)}), ${formatNumber(failures)} attempts: ${mask(problem)}`
    for (const due of receivers.due()) {
      log.warn({ receiver: due.key, failed: due.failures }, `${due.key} has been retried ${lasted(due)}`)
    }
    for (const due of heartbeats.due()) log.warn({ failed: due.failures }, `the heartbeat has failed ${lasted(due)}`)
  }

  return { report, reportHeartbeat, tick }
}

/** What a message was about. */
function fieldsOf(message: Message): object {
  if (message.kind === 'digest') return { digest: message.day }
  if (message.kind === 'store') return { store: message.state }
  const { target, severity, alerts, flapped } = message
  return {
    target,
    severity,
    alerts: [
      ...alerts.map(({ notification }) => `${titleOf(notification)} ${notification.kind}`),
      ...flapped.map(({ notification }) => `${titleOf(notification)} fired and resolved`),
    ],
  }
}
