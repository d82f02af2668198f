import type { z } from 'zod'
import { address, headerValue, text } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import type { ReceiverType } from '../../receiver.ts'

const slackSection = section(
  {
    webhook_url: secret(address(), {
      of: 'the webhook',
      about: 'Incoming webhook',
      variable: 'SLACK_WEBHOOK_URL',
      unless: ['token', 'token_file'],
    }).optional(),
    token: secret(headerValue('the token of a bot'), {
      of: 'the token',
      about: 'Token of a bot (xoxb-…), which edits its message, instead of `webhook_url`',
      example: 'SLACK_TOKEN',
    }).optional(),
    channel: text('the id of a channel, such as `C0123456789`', (id) => /^[CGD][A-Z\d]+$/.test(id))
      .meta({ pattern: '^[CGD][A-Z\\d]+$' })
      .optional()
      .describe('Id of the channel to which the bot posts'),
    api_url: address().optional().describe('Address of the API that the bot uses; default: https://slack.com/api'),
  },
  ({ webhook_url: url, webhook_url_file: urlFile, token, token_file: file, channel }, report) => {
    const [hasWebhook, hasToken] = [url ?? urlFile, token ?? file].map((given) => given !== undefined)
    if (hasWebhook && hasToken) report(['token'], 'not accepted together with `webhook_url`; expected one of them')
    else if (!hasWebhook && !hasToken)
      report(['webhook_url'], 'missing; expected an incoming webhook, or the `token` of a bot and its `channel`')
    else if (hasToken && channel === undefined)
      report(['channel'], 'missing; expected the id of the channel to which the bot posts, such as `C0123456789`')
    else if (hasWebhook && channel !== undefined)
      report(['channel'], 'not accepted together with `webhook_url`, which has a channel of its own')
  },
)

export type SlackConfig = z.output<typeof slackSection>

/** A Slack channel, by an incoming webhook or a bot. */
export const slack: ReceiverType<typeof slackSection> = {
  about: 'A Slack channel, by its incoming webhook or by a bot',
  section: slackSection,
  warning: ({ webhookUrl }) => {
    if (webhookUrl === undefined) return undefined
    const path = /^https:\/\/hooks\.slack(?:-gov)?\.com(\/(?:triggers|workflows)\/)/.exec(new URL(webhookUrl).href)?.[1]
    const what = path && `its webhook_url (${path}…) starts a workflow, which does not show these messages`
    return what && `${what}; expected an incoming webhook, https://hooks.slack.com/services/…`
  },
  create: async (config, context) => {
    const { token, channel, webhookUrl } = config
    if (token !== undefined && channel !== undefined)
      return (await import('./slack-bot.ts')).slackBot({ ...config, token, channel }, context)
    return { send: (await import('./slack-send.ts')).slackSend({ webhookUrl: webhookUrl! }, context) }
  },
}
