import { IncomingWebhook, IncomingWebhookHTTPError, type FetchFunction } from '@slack/webhook'
import { EnvHttpProxyAgent, fetch } from 'undici'
import type { Clock } from '../clock/clock.ts'
import { readRetryAfter } from '../clock/retry-after.ts'
import { DeliveryError, type Notifier } from './notifier.ts'
import { slackMessage } from './slack-message.ts'

export type SlackOptions = {
  /** A secret. */
  webhookUrl: string
  dashboardUrl: string | undefined
  clock: Clock
}

/** One delivery, the answer's body included (milliseconds). */
const TIMEOUT = 10_000

/** Delivers to a Slack channel by an incoming webhook. */
export function slackNotifier({ webhookUrl, dashboardUrl, clock }: SlackOptions): Notifier {
  const dispatcher = new EnvHttpProxyAgent()
  return {
    name: 'slack',
    deliver: async (notification) => {
      // The webhook's own fetch ignores the proxy, and its errors hide the headers of a 429.
      let retryAfter: number | undefined
      const send: FetchFunction = async (url, init) => {
        const response = await fetch(url, { ...init, dispatcher, signal: AbortSignal.timeout(TIMEOUT) })
        retryAfter = readRetryAfter(response.headers.get('retry-after') ?? undefined, clock.wall())
        return response
      }
      const webhook = new IncomingWebhook(webhookUrl, { fetch: send })
      try {
        await webhook.send(slackMessage(notification, { now: clock.wall(), dashboardUrl }))
      } catch (error) {
        throw deliveryError(error, retryAfter)
      }
    },
  }
}

function deliveryError(error: unknown, retryAfter: number | undefined): DeliveryError {
  if (!(error instanceof IncomingWebhookHTTPError)) {
    return new DeliveryError('Slack could not be reached', { retryable: true })
  }
  const { statusCode, body } = error
  const said = typeof body === 'string' && body !== '' ? ` (${body.slice(0, 100)})` : ''
  if (statusCode === 429 || statusCode >= 500) {
    return new DeliveryError(`Slack answered ${statusCode}${said}`, { retryable: true, retryAfter })
  }
  return new DeliveryError(`Slack refused the message with ${statusCode}${said}`, { retryable: false })
}
