import type { IncomingWebhookSendArguments } from '@slack/webhook'
import type { Notification } from '../alerts/notification.ts'
import { descriptionOf, formatSeconds, formatTime, formatValue, splitOf, summaryOf } from './notification-text.ts'

/** Slack's limits, in characters (https://docs.slack.dev/reference/block-kit/blocks). */
const HEADER_LIMIT = 150
const FIELD_LIMIT = 2000
/** An alert's message that was made longer ago than this (seconds) says so. */
const LATE = 120

const SIGNS = { firing: { critical: '🔴', warning: '🟠', info: '🔵' }, resolved: '✅', closed: '⚪' } as const

/**
 * A notification in Slack's Block Kit: enough to decide without opening anything else. Text from configuration is
 * escaped, so that it can neither break the message nor mention anybody.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function slackMessage(
  notification: Notification,
  { now, dashboardUrl }: { now: number; dashboardUrl: string | undefined },
): IncomingWebhookSendArguments {
  const { kind, target, alert, severity, since, firingSince, peak, at, runbookUrl } = notification
  const sign = kind === 'firing' ? SIGNS.firing[severity] : SIGNS[kind]
  const title = `${sign} ${kind === 'firing' ? severity : kind}: ${alert} on ${target}`
  const summary = summaryOf(notification)
  const split = splitOf(notification)
  const description = descriptionOf(notification)
  const facts: [string, string][] = [
    ['Target', target],
    ['Since', formatTime(kind === 'firing' ? since : firingSince)],
    ...(kind === 'firing' ? [] : [['Lasted', formatSeconds(at - firingSince)] satisfies [string, string]]),
    ...(kind === 'firing' ? [] : [['Peak', formatValue(notification, peak)] satisfies [string, string]]),
    ...(split === undefined ? [] : [['How calls ended', split] satisfies [string, string]]),
  ]
  const notes = [
    ...(description === undefined ? [] : [escape(description)]),
    ...(now - at > LATE ? [`made ${formatTime(at)}, delivered ${formatSeconds(now - at)} later`] : []),
  ]
  const buttons = [
    ...(dashboardUrl === undefined ? [] : [button('Dashboard', dashboardUrl)]),
    ...(runbookUrl === undefined ? [] : [button('Runbook', runbookUrl)]),
  ]
  return {
    text: escape(`${title}: ${summary}`),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clip(title, HEADER_LIMIT), emoji: true } },
      { type: 'section', text: markdown(`*${escape(summary)}*`) },
      {
        type: 'section',
        fields: facts.map(([name, value]) => markdown(`*${name}*\n${escape(value)}`)),
      },
      ...(notes.length === 0 ? [] : [{ type: 'context' as const, elements: notes.map(markdown) }]),
      ...(buttons.length === 0 ? [] : [{ type: 'actions' as const, elements: buttons }]),
    ],
  }
}

function markdown(text: string) {
  return { type: 'mrkdwn' as const, text: clip(text, FIELD_LIMIT) }
}

function button(text: string, url: string) {
  return { type: 'button' as const, text: { type: 'plain_text' as const, text }, url }
}

/** Slack reads `&`, `<` and `>` as control characters (https://docs.slack.dev/messaging/formatting-message-text). */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function clip(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}
