import type { IncomingWebhookSendArguments } from '@slack/webhook'
import type { Notification } from '../alerts/notification.ts'
import { descriptionOf, formatSeconds, formatTime, formatValue, splitOf, summaryOf } from './notification-text.ts'

/** Slack's limits, in characters (https://docs.slack.dev/reference/block-kit/blocks). */
const HEADER_LIMIT = 150
const FIELD_LIMIT = 2000
const SECTION_LIMIT = 3000
const URL_LIMIT = 3000
/** A message that was made longer ago than this (seconds) says so. */
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
  const { kind, target, alert, severity, runbookUrl } = notification
  const sign = kind === 'firing' ? SIGNS.firing[severity] : SIGNS[kind]
  const title = `${sign} ${kind === 'firing' ? severity : kind}: ${alert} on ${target}`
  const summary = summaryOf(notification)
  // It says what is wrong, and so nothing of what is over.
  const description = kind === 'firing' ? descriptionOf(notification)?.trim() : undefined
  const notes = notesOf(notification, now)
  const buttons = [...linkButton('Dashboard', dashboardUrl), ...linkButton('Runbook', runbookUrl)]
  return {
    text: escape(`${title}: ${summary}`, SECTION_LIMIT),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clip(title, HEADER_LIMIT), emoji: true } },
      { type: 'section', text: markdown(`*${escape(summary, SECTION_LIMIT - 2)}*`) },
      {
        type: 'section',
        fields: factsOf(notification).map(([name, value]) => markdown(`*${name}*\n${escape(value, FIELD_LIMIT - 50)}`)),
      },
      ...(description ? [{ type: 'section' as const, text: markdown(escape(description, SECTION_LIMIT)) }] : []),
      ...(notes.length === 0 ? [] : [{ type: 'context' as const, elements: notes.map(markdown) }]),
      ...(buttons.length === 0 ? [] : [{ type: 'actions' as const, elements: buttons }]),
    ],
  }
}

function factsOf(notification: Notification): [name: string, value: string][] {
  const { kind, signal, target, value, since, firingSince, peak, at } = notification
  const split = splitOf(notification)
  const ended: [string, string][] = split === undefined ? [] : [['How calls ended', split]]
  if (kind === 'firing') {
    const begun: [string, string] =
      signal === 'poll_age' ? ['Last good poll', formatTime(at - value)] : ['Since', formatTime(since)]
    return [['Target', target], begun, ...ended]
  }
  return [
    ['Target', target],
    ['Fired', formatTime(firingSince)],
    ['Lasted', formatSeconds(at - firingSince)],
    ['Peak', formatValue(notification, peak)],
    ...ended,
  ]
}

/** What a reader must know beside the numbers, to decide whether to act. */
function notesOf({ kind, signal, closedBecause, at }: Notification, now: number): string[] {
  const notes: string[] = []
  if (kind === 'firing' && signal === 'poll_age') {
    notes.push(
      'Why: see `problem` at /api/v1/status, or the log. Calls made meanwhile are counted when polls work again.',
    )
  }
  if (closedBecause === 'too few calls') notes.push('Whether calls work again is not known: hardly any finished since.')
  if (closedBecause === 'rule removed')
    notes.push('The configuration has no such rule any more: nobody watches this now.')
  if (now - at > LATE) {
    notes.push(`made ${formatTime(at)}, delivered ${formatSeconds(now - at)} later: it may have changed since`)
  }
  return notes
}

/** Verbatim: Slack is to make links and mentions of nothing but its own syntax, which is escaped. */
function markdown(text: string) {
  return { type: 'mrkdwn' as const, text, verbatim: true }
}

/** An address that Slack would refuse is left out: it must not cost the message. */
function linkButton(text: string, url: string | undefined) {
  if (url === undefined || url.length > URL_LIMIT) return []
  return [{ type: 'button' as const, text: { type: 'plain_text' as const, text }, url }]
}

/**
 * Slack reads `&`, `<` and `>` as control characters (https://docs.slack.dev/messaging/formatting-message-text). A cut
 * leaves no half of an escaped one.
 */
function escape(text: string, limit: number): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return clip(escaped, limit).replace(/&[a-z]*…$/, '…')
}

/** Cut to a limit, but not within a surrogate pair: the half of one would not be JSON that Slack reads. */
function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
