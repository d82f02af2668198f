import type { Message, StoreMessage, TextOptions } from '../../message.ts'
import { alertsMessage } from './slack-alerts.ts'
import { actions, header, section, type SlackMessage } from './slack-blocks.ts'
import { digestMessage } from './slack-digest.ts'
import { code, fallback } from './slack-text.ts'
import { storeText } from '../../text/store-text.ts'

/**
 * A message in Slack's Block Kit, with enough to decide without opening anything else, and always within Slack's limits.
 * Texts from the configuration can neither break it nor mention users.
 */
export function slackMessage(message: Message, options: TextOptions): SlackMessage {
  switch (message.kind) {
    case 'alerts':
      return alertsMessage(message, options)
    case 'digest':
      return digestMessage(message, options)
    default:
      return storeMessage(message, options)
  }
}

function storeMessage(message: StoreMessage, { dashboardUrl }: TextOptions): SlackMessage {
  const { title, before, problem, after } = storeText(message)
  const headline = `${message.state === 'failing' ? '🔴' : '✅'} ${title}`
  return {
    text: fallback(`${headline}. ${before}${problem}${after}`, 1000),
    blocks: [
      header(headline),
      section(`${before}${code(problem, 500)}${after}`),
      ...actions([{ name: 'Dashboard', url: dashboardUrl }]),
    ],
    unfurl_links: false,
    unfurl_media: false,
  }
}
