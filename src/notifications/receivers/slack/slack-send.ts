import { IncomingWebhook } from '@slack/webhook'
import { oneLine } from '../../text/bounded.ts'
import { digestParts } from '../../text/digest-text.ts'
import type { DigestMessage, TextOptions, Message, StoreMessage } from '../../message.ts'
import { storeText } from '../../text/store-text.ts'
import type { Clock } from '../../../clock/clock.ts'
import { parseMap } from '../../../schema/path.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { Send } from '../../receiver.ts'
import {
  actions,
  code,
  context,
  escape,
  fallback,
  header,
  section,
  sections,
  withoutPreviews,
  type SlackMessage,
} from './slack-blocks.ts'
import { alertsMessage } from './slack-alerts.ts'
import type { SlackConfig } from './slack.ts'

/** A day, target by target. */
function digestMessage(message: DigestMessage, { dashboardUrl }: TextOptions): SlackMessage {
  const { title, days, more, note } = digestParts(message)
  const lines = days.map(({ target, line, split }) => [`${code(target)} *${line}*`, ...split].join('\n'))
  const all = days.map(({ target, line }) => `${target}: ${line}`).join('; ')
  return withoutPreviews(fallback(`📊 ${title}: ${all || 'no target'}`, 1000), [
    header(`📊 ${title}`),
    ...sections([...lines, ...more]),
    ...context([escape(note)]),
    ...actions([{ name: 'Dashboard', url: dashboardUrl }]),
  ])
}

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
  return withoutPreviews(fallback(`${headline}. ${before}${problem}${after}`, 1000), [
    header(headline),
    section(`${before}${code(oneLine(problem, 500))}${after}`),
    ...actions([{ name: 'Dashboard', url: dashboardUrl }]),
  ])
}

/** Delivers to a Slack channel. */
export function slackSend(
  { webhookUrl, dashboardUrl }: Pick<SlackConfig, 'dashboardUrl'> & { webhookUrl: string },
  { clock }: { clock: Clock },
): Send<void> {
  const deliver = httpSender({ receiver: 'Slack', url: webhookUrl, clock, accepts, reasonIn })
  return (message) =>
    deliver((request) =>
      // The webhook's own fetch would ignore the proxy, and its errors would hide the headers of a 429.
      new IncomingWebhook(webhookUrl, { fetch: (_url, init) => request(init ?? {}) }).send(
        slackMessage(message, { now: clock.wall(), dashboardUrl }),
      ),
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
