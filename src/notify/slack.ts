import { IncomingWebhook, IncomingWebhookHTTPError, type FetchFunction } from '@slack/webhook'
import { EnvHttpProxyAgent, fetch } from 'undici'
import type { Clock } from '../clock/clock.ts'
import { readRetryAfter } from '../clock/http-time.ts'
import { DeliveryError, type Notifier } from './notifier.ts'
import { slackMessage } from './slack-message.ts'

export type SlackOptions = {
  /** A secret. */
  webhookUrl: string
  dashboardUrl: string | undefined
  clock: Clock
}

/** One delivery, the answer's body included (seconds). Less than a daemon that is to stop may wait. */
const TIMEOUT = 8

/** Delivers to a Slack channel by an incoming webhook. */
export function slackNotifier({ webhookUrl, dashboardUrl, clock }: SlackOptions): Notifier {
  const dispatcher = new EnvHttpProxyAgent()
  return {
    name: 'slack',
    deliver: async (notification) => {
      const message = slackMessage(notification, { now: clock.wall(), dashboardUrl })
      const timeout = new AbortController()
      const patience = clock.scheduler.schedule(() => timeout.abort(), TIMEOUT * 1000)
      // The webhook's own fetch ignores the proxy, and its errors hide the headers of a 429.
      let retryAfter: number | undefined
      const send: FetchFunction = async (url, init) => {
        const response = await fetch(url, { ...init, dispatcher, signal: timeout.signal })
        retryAfter = readRetryAfter(response.headers.get('retry-after') ?? undefined, clock.wall())
        return response
      }
      try {
        await new IncomingWebhook(webhookUrl, { fetch: send }).send(message)
      } catch (error) {
        if (timeout.signal.aborted) {
          throw new DeliveryError(`Slack did not answer within ${TIMEOUT} s`, { retryable: true })
        }
        throw deliveryError(error, retryAfter)
      } finally {
        patience.unsubscribe()
      }
    },
  }
}

function deliveryError(error: unknown, retryAfter: number | undefined): DeliveryError {
  if (!(error instanceof IncomingWebhookHTTPError)) {
    const code = error instanceof Error ? innermostCode(error.cause) : undefined
    return new DeliveryError(`Slack could not be reached${code === undefined ? '' : `: ${code}`}`, { retryable: true })
  }
  const { statusCode, body } = error
  // Slack answers in a few words, such as `no_service`. Anything else may be a proxy's page, which quotes the address.
  const said = typeof body === 'string' && /^[a-z][a-z_ ]{0,99}$/.test(body) ? ` (${body})` : ''
  if (statusCode === 429 || statusCode >= 500) {
    return new DeliveryError(`Slack answered ${statusCode}${said}`, { retryable: true, retryAfter })
  }
  return new DeliveryError(`Slack refused the message with ${statusCode}${said}`, { retryable: false })
}

/** The code alone (`ENOTFOUND`, a TLS code): an error's message may hold the address. */
function innermostCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return innermostCode(error instanceof AggregateError ? error.errors[0] : error.cause) ?? code
}
