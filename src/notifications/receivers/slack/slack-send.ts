import { IncomingWebhook } from '@slack/webhook'
import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { Send } from '../../receiver.ts'
import type { SlackConfig } from './slack.ts'
import { slackMessage } from './slack-message.ts'

/** Delivers to a Slack channel. */
export function slackSend({ webhookUrl, dashboardUrl }: SlackConfig, { clock }: { clock: Clock }): Send {
  const deliver = httpSender({ receiver: 'Slack', url: webhookUrl, clock, accepted: 'ok', reasonIn })
  return (message) =>
    deliver((request) =>
      // The webhook's own fetch would ignore the proxy, and its errors would hide the headers of a 429.
      new IncomingWebhook(webhookUrl, { fetch: (_url, init) => request(init ?? {}) }).send(
        slackMessage(message, { now: clock.wall(), dashboardUrl }),
      ),
    )
}

/**
 * Slack answers with a short text such as `no_service`. Any other body may be a proxy's page, which quotes the secret
 * address.
 */
function reasonIn(body: string): string | undefined {
  return /^[a-z][a-z_ ]{0,99}$/.test(body) ? body : undefined
}
