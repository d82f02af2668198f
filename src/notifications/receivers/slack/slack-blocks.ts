import type { KnownBlock } from '@slack/types'
import { isolated, oneLine } from '../../text/bounded.ts'
import { replaceTimes } from '../../text/times.ts'
import type { Link } from '../../text/message-parts.ts'

/*
 * Texts for Slack: escaped so that names and configured texts show as they are. They cannot mention users, or make links, formatting or
 * emoji. Their lengths are bounded before (text/bounded.ts).
 */

/** Escapes `&`, `<` and `>`, Slack's control characters (https://docs.slack.dev/messaging/formatting-message-text), in a mrkdwn text. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * A name for a mrkdwn text, as code, in which nothing is formatting or an emoji, even in a name such as `*`. It is never empty: Slack
 * would show an empty one as two backticks.
 */
export function code(name: string): string {
  return `\`${isolated(escape(name).replaceAll('`', "'")) || '-'}\``
}

/** A name with a link, for a mrkdwn text; without the link if there is no address, or Slack cannot use it. */
export function link(url: string | undefined, name: string): string {
  const address = addressOf(url)
  const text = `<${escape(address ?? '')}|${isolated(escape(name).replaceAll('|', '¦')) || '-'}>`
  return address === undefined || text.length > LIMITS.link ? code(name) : text
}

/** The text of a phone's notification. Slack reads it like mrkdwn, but without `verbatim`. */
export function fallback(text: string, limit: number): string {
  return escape(oneLine(text, limit).replaceAll(/@(?=here|channel|everyone)/gi, '@\u200B'))
}

/** A message in the form of Slack's webhook. */
export type SlackMessage = { text: string; blocks: SlackBlock[]; unfurl_links: boolean; unfurl_media: boolean }

/**
 * A message; Slack fetches none of its links to show a preview.
 *
 * @param title its header, with which a phone's notification begins
 * @param more what else the notification says, which has at most `most` characters
 */
export function titled(title: string, more: string, most: number, blocks: SlackBlock[]): SlackMessage {
  const text = fallback(`${title}${more}`, most)
  return { text, blocks: [header(title), ...blocks], unfurl_links: false, unfurl_media: false }
}

/**
 * The message with times that Slack shows each reader in the own zone (https://docs.slack.dev/messaging/formatting-message-text#date-formatting),
 * unless it would be too long.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function dated(message: SlackMessage, now: number): SlackMessage {
  const shownOf = (seconds: number, text: string) => `<!date^${seconds}^{date_num} {time_secs}|${text}>`
  const of = <Text extends { type: string; text: string }>(one: Text): Text => {
    const text = one.type === 'mrkdwn' ? replaceTimes(one.text, now, shownOf) : one.text
    return text.length > LIMITS.field ? one : { ...one, text }
  }
  const blocks = message.blocks.map((block): SlackBlock => {
    if (block.type === 'context')
      return { ...block, elements: block.elements.map((one) => ('text' in one ? of(one) : one)) }
    if (block.type !== 'section') return block
    return {
      ...block,
      ...(block.text && { text: of(block.text) }),
      ...(block.fields && { fields: block.fields.map(of) }),
    }
  })
  return JSON.stringify(blocks).length > LIMITS.blocks ? message : { ...message, blocks }
}

/** A block of a kind that callwatch uses. */
export type SlackBlock = Block<'header'> | Block<'section'> | Block<'context'> | Block<'actions'>
type Block<Kind> = Extract<KnownBlock, { type: Kind }>

/**
 * Slack accepts at most 50 blocks, 150 characters of a header, 3000 of a text, 2000 of a field, 3000 of an address
 * (https://docs.slack.dev/reference/block-kit/blocks), and about 13,200 of all blocks as JSON, which it does not document
 * (https://github.com/slackapi/bolt-js/issues/2509). The longest message stays below 12,000, with addresses of at most so many characters.
 */
const LIMITS = { text: 3000, field: 2000, blocks: 12_000, url: 600, link: 250, several: 250 }

/** Emoji are off, so that `:fire:` in a name is shown as it is. */
function header(text: string): Block<'header'> {
  return { type: 'header', text: { type: 'plain_text', text, emoji: false } }
}

/** @param link a button next to the text */
export function section(text: string, link?: Link): Block<'section'> {
  const [accessory] = buttons(shortest(link === undefined ? [] : [link]))
  return { type: 'section', text: mrkdwn(text), ...(accessory === undefined ? {} : { accessory }) }
}

/** Lines in as few texts as they fit; no block if there is none. */
export function sections(lines: readonly string[]): Block<'section'>[] {
  const texts: string[] = []
  for (const line of lines) {
    const joined = [...texts.slice(-1), line].join('\n')
    if (joined.length > LIMITS.text) texts.push(line)
    else texts.splice(-1, 1, joined)
  }
  return texts.map((text) => section(text))
}

/** Names and values in two columns; no block if there are none. */
export function fields(pairs: readonly [name: string, value: string][]): Block<'section'>[] {
  if (pairs.length === 0) return []
  return [{ type: 'section', fields: pairs.map(([name, value]) => mrkdwn(`*${name}*\n${value}`)) }]
}

/** Small print, one note each; no block if there is none. */
export function context(notes: readonly string[]): Block<'context'>[] {
  return notes.length === 0 ? [] : [{ type: 'context', elements: notes.map(mrkdwn) }]
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

/** Leaves out addresses that are too long for several in one message. */
export const shortest = (links: readonly Link[]) =>
  links.filter(({ url }) => (addressOf(url)?.length ?? 0) <= LIMITS.several)

/** Leaves out addresses that Slack would refuse, since it would refuse the whole message. */
function buttons(links: readonly Link[]) {
  return links.flatMap(({ name, url }) => {
    const address = addressOf(url)
    if (address === undefined || address.length > LIMITS.url) return []
    return [{ type: 'button' as const, text: { type: 'plain_text' as const, text: name }, url: address }]
  })
}

/** An address that a browser can open, without characters that Slack or JSON would escape. */
function addressOf(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? '')
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return url.href.replaceAll('|', '%7C').replaceAll('\\', '%5C')
}

/** `verbatim`: Slack makes links and mentions only of its own syntax, which callwatch escapes. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn' as const, text, verbatim: true }
}
