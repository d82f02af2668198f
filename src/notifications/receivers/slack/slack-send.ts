import { parseMap } from '../../../schema/path.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { Send, SendContext } from '../../receiver.ts'
import { slackMessage } from './slack-message.ts'
import type { SlackConfig } from './slack.ts'

/** Delivers to a Slack channel. */
export function slackSend(
  { webhookUrl, dashboardUrl }: Pick<SlackConfig, 'dashboardUrl'> & { webhookUrl: string },
  { clock }: Pick<SendContext, 'clock'>,
): Send<void> {
  const deliver = httpSender({ receiver: 'Slack', url: webhookUrl, clock, accepts, reasonIn })
  return (message) =>
    deliver((request) =>
      request({ method: 'POST', body: JSON.stringify(slackMessage(message, { now: clock.wall(), dashboardUrl })) }),
    )
}

/** Slack answers `ok`, as Mattermost and Discord do; other compatible receivers answer with JSON, such as Rocket.Chat. */
function accepts(body: string): boolean | undefined {
  const answer = parseMap(body)
  const said = [body.trim() === 'ok' || answer?.['ok'], answer?.['success']]
  return [true, false].find((each) => said.includes(each))
}

/**
 * Slack answers with a short text such as `no_service`, other receivers with an `error` in JSON. Only words are shown: any other
 * text may be a proxy's page, which quotes the secret address.
 */
function reasonIn(body: string): string | undefined {
  const reason = parseMap(body)?.['error'] ?? body
  return typeof reason === 'string' && /^[a-z][a-z_ .,']{0,99}$/i.test(reason) ? reason : undefined
}
