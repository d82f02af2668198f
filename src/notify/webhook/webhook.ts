import { fetch, Headers } from 'undici'
import type { Clock } from '../../clock/clock.ts'
import type { Notifier } from '../notifier.ts'
import { attempt, outwardAgent, refusal, retryAfterOf } from '../http-attempt.ts'
import { webhookBody } from './webhook-body.ts'

export type WebhookOptions = {
  /** A secret. */
  url: string
  /** Sent with each message, in place of those of the same name here; the values are secrets. */
  headers: Readonly<Record<string, string>>
  clock: Clock
}

/** Posts each message as JSON (webhook-body.ts) to an address. Any 2xx is an acceptance; redirects are not followed. */
export function webhookNotifier({ url, headers, clock }: WebhookOptions): Notifier {
  const dispatcher = outwardAgent(url)
  return {
    name: 'webhook',
    deliver: (message) =>
      attempt('the webhook', clock, async (signal) => {
        const sent = new Headers({ 'content-type': 'application/json', 'user-agent': 'callwatch' })
        for (const [name, value] of Object.entries(headers)) sent.set(name, value)
        // Half a character is JSON, but not to every receiver.
        const body = JSON.stringify(webhookBody(message, clock.wall()), (_name, value: unknown) =>
          typeof value === 'string' ? value.toWellFormed() : value,
        )
        const response = await fetch(url, {
          method: 'POST',
          headers: sent,
          body,
          redirect: 'manual',
          dispatcher,
          signal,
        })
        // What the answer says beside its status is nobody's business: it may quote the address, or never end.
        await response.body?.cancel()
        const { status, ok } = response
        if (!ok) throw refusal('the webhook', { status, retryAfter: retryAfterOf(response.headers, clock) })
      }),
  }
}
