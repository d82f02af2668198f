import { IncomingWebhook, IncomingWebhookHTTPError, type FetchFunction } from '@slack/webhook'
import { fetch } from 'undici'
import type { Clock } from '../../clock/clock.ts'
import type { Notifier } from '../notifier.ts'
import { slackMessage } from './slack-message.ts'
import { attempt, outwardAgent, refusal, retryAfterOf } from '../http-attempt.ts'

export type SlackOptions = {
  /** A secret. */
  webhookUrl: string
  dashboardUrl: string | undefined
  clock: Clock
}

/** Delivers to a Slack channel by an incoming webhook. */
export function slackNotifier({ webhookUrl, dashboardUrl, clock }: SlackOptions): Notifier {
  const dispatcher = outwardAgent(webhookUrl)
  return {
    name: 'slack',
    deliver: (message) =>
      attempt('Slack', clock, async (signal) => {
        // The webhook's own fetch ignores the proxy, and its errors hide the headers of a 429.
        let retryAfter: number | undefined
        const send: FetchFunction = async (url, init) => {
          const response = await fetch(url, { ...init, redirect: 'manual', dispatcher, signal })
          retryAfter = retryAfterOf(response.headers, clock)
          return response
        }
        try {
          const webhook = new IncomingWebhook(webhookUrl, { fetch: send })
          await webhook.send(slackMessage(message, { now: clock.wall(), dashboardUrl }))
        } catch (error) {
          if (!(error instanceof IncomingWebhookHTTPError)) throw error
          throw refusal('Slack', { status: error.statusCode, retryAfter }, fewWords(error.body))
        }
      }),
  }
}

/** Slack answers in a few words, such as `no_service`. Anything else may be a proxy's page, which quotes the address. */
function fewWords(body: unknown): string {
  return typeof body === 'string' && /^[a-z][a-z_ ]{0,99}$/.test(body) ? body : ''
}
