import { Headers } from 'undici'
import { httpSender } from '../../../network/http-sender.ts'
import { alertmanagerView } from '../../../views/alertmanager.ts'
import { messageView } from '../../../views/message-body.ts'
import type { SendContext, Send } from '../../receiver.ts'
import type { WebhookConfig } from './webhook.ts'

/** Posts each message as JSON. A configured header replaces the header of the same name. */
export function webhookSend(
  { url, format, headers }: WebhookConfig,
  { clock, name: receiver, pageUrl }: SendContext,
): Send {
  const deliver = httpSender({ receiver: 'the webhook', url, clock })
  return async (message) => {
    const content =
      format === 'alertmanager' ? alertmanagerView(message, { receiver, pageUrl }) : messageView(message, clock.wall())
    if (content === undefined) return
    await deliver((request) => {
      const sent = new Headers({ 'content-type': 'application/json', 'user-agent': 'callwatch' })
      for (const [name, value] of Object.entries(headers)) sent.set(name, value)
      // Not every receiver accepts half of a surrogate pair, although it is valid JSON.
      const body = JSON.stringify(content, (_name, value: unknown) =>
        typeof value === 'string' ? value.toWellFormed() : value,
      )
      return request({ method: 'POST', headers: sent, body })
    })
  }
}
