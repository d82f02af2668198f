import { DeliveryError } from '../../../network/delivery-error.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { messageView } from './webhook-body.ts'
import { refusalIn } from '../../refusal.ts'
import type { SendContext, Send } from '../../receiver.ts'
import type { WebhookConfig } from './webhook.ts'

/** Bytes of a body. Many servers refuse more than 100 kB. */
const MAX_BODY = 90_000
/** How many alerts a body has at most, tried in this order until it is accepted. */
const MOST = [Infinity, 100, 50, 20, 5, 1] as const

/** Posts each message as JSON; with fewer alerts, if it would be too large. A configured header replaces the header of the same name. */
export function webhookSend({ url, headers }: WebhookConfig, { clock }: Pick<SendContext, 'clock'>): Send<void> {
  const deliver = httpSender({ receiver: 'the webhook', url, clock, refuses: refusalIn })
  return async (message) => {
    let before: string | undefined
    let refused: unknown
    for (const most of MOST) {
      const body = textOf(messageView(message, clock.wall(), most))
      if (body === before || (Buffer.byteLength(body) > MAX_BODY && most !== MOST.at(-1))) continue
      before = body
      refused = await post(body).catch((error: unknown) => error)
      if (!(refused instanceof DeliveryError && refused.status === 413)) break
    }
    if (refused !== undefined) throw refused
  }

  function post(body: string): Promise<void> {
    return deliver((request) => request({ method: 'POST', headers, body }))
  }
}

/** Not every receiver accepts half of a surrogate pair, although it is valid JSON. */
function textOf(content: unknown): string {
  return JSON.stringify(content, (_name, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
}
