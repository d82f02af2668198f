import type { Clock } from '../../clock/clock.ts'
import { httpSender } from '../../network/http-sender.ts'
import { signedHeaders } from './sign.ts'
import type { WebhookConfig } from './webhook-section.ts'

/** Posts an event (its id, and the CloudEvent). Rejects with a {@link DeliveryError}. */
export type PostEvent = (id: string, body: string, signal: AbortSignal) => Promise<void>

/** Posts events as CloudEvents in structured mode, signed as Standard Webhooks specifies. */
export function eventPoster({ name, url, secret, oldSecret, timeout }: WebhookConfig, clock: Clock): PostEvent {
  const deliver = httpSender({ receiver: `the webhook ${name}`, url, clock, timeout, isDated: true })
  const secrets = oldSecret === undefined ? [secret] : [secret, oldSecret]
  return (id, body, signal) =>
    deliver(
      (request) =>
        request({
          method: 'POST',
          headers: {
            'content-type': 'application/cloudevents+json; charset=utf-8',
            ...signedHeaders(id, clock.wall(), body, secrets),
          },
          body,
        }),
      signal,
    )
}
