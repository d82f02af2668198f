import type { IncomingWebhookSendArguments } from '@slack/webhook'
import { plainText } from '../../../text/plain-text.ts'

/*
 * Texts for Slack: cut to the accepted length, and escaped so that names and configured texts show as they are. They cannot
 * mention users, or make links, formatting or emoji.
 */

/** Prose for a mrkdwn text. It may span lines and be formatted, but has no mention and no link. */
export function prose(text: string, limit: number): string {
  const paragraphs = readable(text, limit).replaceAll(/\n{3,}/g, '\n\n')
  return escape(paragraphs.trim(), limit)
}

/** A sentence for a mrkdwn text, on one line. */
export function sentence(text: string, limit: number): string {
  return escape(onLine(text, limit), limit)
}

/**
 * A name for a mrkdwn text, as code, in which nothing is formatting or an emoji, even in a name such as `*`. It is on one
 * line, and never empty: Slack would show an empty one as two backticks.
 */
export function code(name: string, limit: number): string {
  return `\`${isolated(escape(onLine(name, limit).replaceAll('`', "'"), limit - 4) || '-')}\``
}

/** A name with a link, for a mrkdwn text; without the link if there is no address, or Slack cannot use it. */
export function link(address: string | undefined, name: string, limit: number): string {
  const url = URL.parse(address ?? '')
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > LONGEST_LINK) return code(name, limit)
  return `<${url.href.replaceAll('&', '&amp;').replaceAll('|', '%7C')}|${isolated(sentence(name, limit - 2).replaceAll('|', '¦')) || '-'}>`
}

/** Characters: several links must have room in a message. */
const LONGEST_LINK = 500

/** A name for a plain text without emoji. Slack shows it as it is. */
export function plain(name: string, limit: number): string {
  return isolated(clip(onLine(name, limit), limit - 2))
}

/** A name for the text of a phone's notification. Slack reads it like mrkdwn, but without `verbatim`. */
export function fallback(text: string, limit: number): string {
  return escape(onLine(text, limit).replaceAll(/@(?=here|channel|everyone)/gi, '@\u200B'), limit)
}

/** Cuts to a limit, but not within a surrogate pair: Slack cannot read JSON with half of one. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/**
 * Escapes `&`, `<` and `>`, Slack's control characters (https://docs.slack.dev/messaging/formatting-message-text). A cut
 * never leaves half of an escaped character.
 */
function escape(text: string, limit: number): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return clip(escaped, limit).replace(/&[a-z]*…$/, '…')
}

function onLine(text: string, limit: number): string {
  return readable(text, limit).replaceAll(/\s+/g, ' ').trim()
}

/**
 * Removes what cannot be seen: halves of characters, controls, and format characters such as marks that change the direction.
 */
function readable(text: string, limit: number): string {
  // The end of a text that is far too long is not read.
  const begin = text.length > 4 * limit ? text.slice(0, 4 * limit) : text
  return plainText(begin.toWellFormed())
}

/** Isolates right-to-left text. Otherwise the numbers that follow would run with it, and seem to belong to another name. */
function isolated(text: string): string {
  return /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/.test(text) ? `\u2068${text}\u2069` : text
}

/** A message in the form of Slack's webhook. */
export type SlackMessage = IncomingWebhookSendArguments & { text: string; blocks: SlackBlock[] }
/** A message; Slack fetches none of its links to show a preview. */
export function withoutPreviews(text: string, blocks: SlackBlock[]): SlackMessage {
  return { text, blocks, unfurl_links: false, unfurl_media: false }
}

/** A block of a kind that callwatch uses. */
export type SlackBlock = Block<'header'> | Block<'section'> | Block<'context'> | Block<'actions'>
type Block<Kind> = Extract<NonNullable<IncomingWebhookSendArguments['blocks']>[number], { type: Kind }>

/** Slack's limits, in characters unless noted otherwise (https://docs.slack.dev/reference/block-kit/blocks). */
export const LIMITS = {
  blocks: 50,
  header: 150,
  text: 3000,
  field: 2000,
  /** Fields of a section. */
  fields: 10,
  /** Elements of a context. */
  context: 10,
  url: 3000,
} as const

/**
 * The size of all blocks of a message as JSON. Slack documents no such limit, but refuses more than about 13,200 characters
 * (https://github.com/slackapi/bolt-js/issues/2509).
 */
export const MESSAGE_SIZE = 12_000

/** A button with an address. */
export type Link = { name: string; url: string | undefined }

/** Emoji are off, so that `:fire:` in a name is shown as it is. */
export function header(text: string): Block<'header'> {
  return { type: 'header', text: { type: 'plain_text', text: clip(text, LIMITS.header), emoji: false } }
}

/** @param link a button next to the text */
export function section(text: string, link?: Link): Block<'section'> {
  const [accessory] = link === undefined ? [] : buttons([link])
  return { type: 'section', text: mrkdwn(text), ...(accessory === undefined ? {} : { accessory }) }
}

/** Names and values in two columns; no block if there are none. */
export function fields(pairs: readonly [name: string, value: string][]): Block<'section'>[] {
  if (pairs.length === 0) return []
  const shown = pairs.slice(0, LIMITS.fields)
  return [{ type: 'section', fields: shown.map(([name, value]) => mrkdwn(`*${name}*\n${value}`)) }]
}

/** Small print, one note each; no block if there is none. */
export function context(notes: readonly string[]): Block<'context'>[] {
  return notes.length === 0 ? [] : [{ type: 'context', elements: notes.slice(0, LIMITS.context).map(mrkdwn) }]
}

/** Small print in which no character is formatting. */
export function plainContext(text: string): Block<'context'> {
  return { type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] }
}

/** A row of buttons; no block if no address can be used. */
export function actions(links: readonly Link[]): Block<'actions'>[] {
  const elements = buttons(links)
  return elements.length === 0 ? [] : [{ type: 'actions', elements }]
}

/** How much of {@link MESSAGE_SIZE} the blocks need. */
export function sizeOf(blocks: readonly SlackBlock[]): number {
  return JSON.stringify(blocks).length
}

/** Leaves out addresses that Slack would refuse, since it would refuse the whole message. */
function buttons(links: readonly Link[]) {
  return links.flatMap(({ name, url }) => {
    const address = url === undefined ? null : URL.parse(url)
    if (address === null || !/^https?:$/.test(address.protocol) || address.href.length > LIMITS.url) return []
    return [{ type: 'button' as const, text: { type: 'plain_text' as const, text: name }, url: address.href }]
  })
}

/** `verbatim`: Slack makes links and mentions only of its own syntax, which callwatch escapes. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn' as const, text, verbatim: true }
}
