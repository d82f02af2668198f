import type { z } from 'zod'
import { address, link } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import type { ReceiverType } from '../../receiver.ts'

const slackSection = section({
  webhook_url: secret(address(), { of: 'the webhook', about: 'Incoming webhook', variable: 'SLACK_WEBHOOK_URL' }),
  dashboard_url: link().optional().describe('Linked in the message'),
})

export type SlackConfig = z.output<typeof slackSection>

/** A Slack channel, by an incoming webhook. */
export const slack: ReceiverType<typeof slackSection> = {
  about: 'A Slack channel, by its incoming webhook',
  section: slackSection,
  warning: ({ webhookUrl }) => {
    const path = /^https:\/\/hooks\.slack(?:-gov)?\.com(\/(?:triggers|workflows)\/)/.exec(new URL(webhookUrl).href)?.[1]
    const what = path && `its webhook_url (${path}…) starts a workflow, which does not show these messages`
    return what && `${what}; expected an incoming webhook, https://hooks.slack.com/services/…`
  },
  create: async (config, context) => (await import('./slack-send.ts')).slackSend(config, context),
}
