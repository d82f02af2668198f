import type { Notification } from '../alerts/notification.ts'
import { bulletinLine } from './text/bulletin.ts'
import type { AlertMessage, Message } from './message.ts'
import { detailsOf, titleOf, flappedText } from './text/notification-text.ts'
import type { MessageReceiver } from './receiver.ts'
import { storeText } from './text/store-text.ts'

/** A line for the log: its text, and the fields to filter by. Default level: warn. */
export type LogLine = { fields: Record<string, string>; text: string; level?: 'info' | 'warn' }

/** The log's name as a receiver. */
export const LOG = 'log'

/** Logs messages if no receiver of messages is configured: one line per alert or report. */
export function logReceiver(log: (line: LogLine) => void): MessageReceiver {
  return {
    name: LOG,
    send: async (message) => linesOf(message).forEach(log),
  }
}

function linesOf(message: Message): LogLine[] {
  switch (message.kind) {
    case 'alerts':
      return alertLines(message)
    case 'report':
      return [{ fields: {}, text: bulletinLine(message), level: 'info' }]
    default: {
      const { title, line } = storeText(message)
      return [{ fields: { state: message.state }, text: `${title}. ${line}` }]
    }
  }
}

function alertLines({ alerts, flapped }: AlertMessage): LogLine[] {
  const fieldsOf = ({ target, alert, severity }: Notification, state: string) => ({ target, alert, severity, state })
  const updates = alerts.map(({ notification }) => ({
    fields: fieldsOf(notification, notification.kind),
    text: `alert ${notification.kind}: ${titleOf(notification)}: ${detailsOf(notification)}`,
  }))
  const flaps = flapped.map((each) => ({
    fields: fieldsOf(each.notification, 'flapped'),
    text: `alert flapped: ${titleOf(each.notification)} ${flappedText(each)}`,
  }))
  return [...updates, ...flaps]
}
