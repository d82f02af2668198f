import { Headers } from 'undici'
import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { Send } from '../../receiver.ts'
import { webhookBody } from './webhook-body.ts'
import type { WebhookConfig } from './webhook.ts'

/** Posts each message as JSON. The configured headers come in place of those of the same name here. */
export function webhookSend({ url, headers }: WebhookConfig, { clock }: { clock: Clock }): Send {
  const deliver = httpSender({ receiver: 'the webhook', url, clock })
  return (message) =>
    deliver((request) => {
      const sent = new Headers({ 'content-type': 'application/json', 'user-agent': 'callwatch' })
      for (const [name, value] of Object.entries(headers)) sent.set(name, value)
      // Half a character is JSON, but not to every receiver.
      const body = JSON.stringify(webhookBody(message, clock.wall()), (_name, value: unknown) =>
        typeof value === 'string' ? value.toWellFormed() : value,
      )
      return request({ method: 'POST', headers: sent, body })
    })
}
