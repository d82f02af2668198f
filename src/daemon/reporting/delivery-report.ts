import { inspect } from 'node:util'
import type { Clock } from '../../clock/clock.ts'
import type { WebhookEvent } from '../../events/webhooks/webhook-event.ts'
import type { OperationalMetrics } from '../../metrics/operational-metrics.ts'
import type { Delivery } from '../../notifications/delivery/deliver.ts'
import type { Message } from '../../notifications/message.ts'
import { titleOf } from '../../alerts/text/alert-text.ts'
import { formatSeconds, plural } from '../../text/format.ts'
import type { DaemonParts } from '../parts.ts'

type DeliveryReportOptions = Pick<DaemonParts, 'log' | 'mask'> & { clock: Pick<Clock, 'monotonic'> }

/** Logs each message that was sent once. For a failing receiver it logs when the failures begin and end. */
export function deliveryLog({ log, clock, mask }: DeliveryReportOptions): (delivery: Delivery) => void {
  /** The failing receivers by their keys: since when, and after how many attempts. */
  const failing = new Map<string, { since: number; attempts: number }>()

  /** Logs that a receiver works again, if it failed before. */
  function logEnd({ receiver, key = receiver }: Delivery): void {
    const { since = 0, attempts = 0 } = failing.get(key) ?? {}
    if (!failing.delete(key)) return
    const lasted = formatSeconds(clock.monotonic() - since)
    log.info({ receiver }, `${receiver} works again after ${lasted}; ${plural(attempts, 'attempt')} failed`)
  }

  return (delivery) => {
    const { receiver, key = receiver, outcome, problem = '', unconfirmed, error, message } = delivery
    const fields = { receiver, ...(message && fieldsOf(message)) }
    if (error !== undefined) {
      log.error(
        { ...fields, stack: mask(inspect(error)) },
        `notification ${outcome}: internal error, a bug in callwatch; please report it with its stack`,
      )
    } else if (unconfirmed !== undefined) {
      log.warn(fields, `notification sent to ${receiver}: ${mask(unconfirmed)}`)
    } else if (outcome === 'retried') {
      const { since, attempts } = failing.get(key) ?? { since: clock.monotonic(), attempts: 0 }
      failing.set(key, { since, attempts: attempts + 1 })
      log[attempts === 0 ? 'warn' : 'debug'](fields, `notification retried: ${mask(problem)}`)
    } else {
      // Without a message, the delivery is a repeated state.
      log[message === undefined ? 'debug' : 'info'](fields, `notification sent to ${receiver}`)
      if (problem === '') logEnd(delivery)
    }
  }
}

/**
 * Reports events of a webhook.
 *
 * @param isConfigured whether the webhook still has metrics
 */
export function reportWebhook(
  { log, metrics, mask }: Pick<DeliveryReportOptions, 'log' | 'mask'> & { metrics: OperationalMetrics },
  event: WebhookEvent,
  isConfigured: boolean,
): void {
  const { webhook } = event
  const count = (outcome: string, n: number) => isConfigured && metrics.webhookDeliveries.inc({ webhook, outcome }, n)
  const warn = (line: string, fields: object = {}) => log.warn({ webhook, ...fields }, line)
  switch (event.kind) {
    case 'events': {
      const { outcome, n, problem = '' } = event
      count(outcome, n)
      if (outcome === 'dead') warn(`an event is a dead letter: ${mask(problem)}`)
      if (outcome === 'expired')
        warn(`${n} events expired (events.retention) before they were delivered`, { events: n })
      return
    }
    case 'failing':
      return warn(`events are not accepted, and are sent again: ${mask(event.problem)}`)
    case 'recovered':
      return log.info({ webhook }, 'no event fails any more')
    case 'paused':
      return warn(`${mask(event.problem)}: paused until \`callwatch events webhooks resume ${webhook}\``)
    case 'gap':
      count('gap', 1)
      warn('the position of the webhook in the event log no longer exists: events may not have been delivered')
  }
}

/** The fields that say what a message is about. */
function fieldsOf(message: Message): object {
  if (message.kind === 'report') return { report: message.every ?? 'first' }
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
