import { IncomingWebhook } from '@slack/webhook'
import { dayWithWeekday, digestLine, digestSplit } from '../../text/digest-text.ts'
import type { DigestMessage, TextOptions, Message, StoreMessage } from '../../message.ts'
import { storeText } from '../../text/store-text.ts'
import type { Clock } from '../../../clock/clock.ts'
import { parseMap } from '../../../schema/path.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { Send } from '../../receiver.ts'
import {
  actions,
  context,
  header,
  LIMITS,
  MESSAGE_SIZE,
  section,
  sizeOf,
  type SlackMessage,
  code,
  fallback,
  plain,
  sentence,
  withoutPreviews,
} from './slack-blocks.ts'
import { listing } from './slack-listing.ts'
import { alertsMessage } from './slack-alerts.ts'
import type { SlackConfig } from './slack.ts'

/** The size of the sections without their texts. */
const FRAMES = 500

/** A day, target by target. */
function digestMessage(
  { day, timezone, targets }: DigestMessage,
  { dashboardUrl }: Pick<TextOptions, 'dashboardUrl'>,
): SlackMessage {
  const title = header(`📊 Calls on ${plain(dayWithWeekday(day), 60)}`)
  const note = context([
    `The day in ${sentence(timezone, 100) || 'UTC'}; in brackets, the change from the same weekday a week before.`,
  ])
  const buttons = actions([{ name: 'Dashboard', url: dashboardUrl }])
  const items = targets.map((target) => {
    const name = code(target.target, 100)
    const split = digestSplit(target.day)
    const lines = [`${name} *${digestLine(target)}*`, ...(split === undefined ? [] : [split])]
    return { line: lines.join('\n'), name }
  })
  const texts = listing(items, MESSAGE_SIZE - sizeOf([title, ...note, ...buttons]) - FRAMES, LIMITS.text)
  const all = targets.map((target) => `${target.target}: ${digestLine(target)}`).join('; ')
  const text = fallback(`📊 Calls on ${dayWithWeekday(day)}: ${all || 'no target'}`, 1000)
  return withoutPreviews(text, [title, ...texts.map((each) => section(each)), ...note, ...buttons])
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
    section(`${before}${code(problem, 500)}${after}`),
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
