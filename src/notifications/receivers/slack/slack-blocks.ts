import type { IncomingWebhookSendArguments } from '@slack/webhook'
import { clip } from './slack-text.ts'

/** A message in the form of Slack's webhook. */
export type SlackMessage = IncomingWebhookSendArguments & { text: string; blocks: SlackBlock[] }
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
