import { plainText } from '../../../text/plain-text.ts'

/**
 * Texts as Slack takes them: of a length that it accepts, and such that names and texts from configuration show as they
 * are. They can neither mention users nor make links, formatting, or emoji.
 */

/** Prose for a mrkdwn text: it may span lines and be formatted, but has no mention and no link. */
export function prose(text: string, limit: number): string {
  const paragraphs = readable(text, limit).replaceAll(/\n{3,}/g, '\n\n')
  return escape(paragraphs.trim(), limit)
}

/** A sentence for a mrkdwn text, on one line. */
export function sentence(text: string, limit: number): string {
  return escape(onLine(text, limit), limit)
}

/**
 * A name for a mrkdwn text, as code: nothing inside it is formatting or an emoji, though it be called `*`. It is on one
 * line, and never empty, which Slack would show as two backticks.
 */
export function code(name: string, limit: number): string {
  return `\`${isolated(escape(onLine(name, limit).replaceAll('`', "'"), limit - 4) || '-')}\``
}

/** A name for a plain text without emoji, of which Slack shows everything as it is. */
export function plain(name: string, limit: number): string {
  return isolated(clip(onLine(name, limit), limit - 2))
}

/** A name for the text of a notification, which Slack reads like mrkdwn, and which has no `verbatim`. */
export function fallback(text: string, limit: number): string {
  return escape(onLine(text, limit).replaceAll(/@(?=here|channel|everyone)/gi, '@\u200B'), limit)
}

/** Cut to a limit, but not within a surrogate pair: the half of one would not be JSON that Slack reads. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/**
 * Slack reads `&`, `<` and `>` as control characters (https://docs.slack.dev/messaging/formatting-message-text). A cut
 * leaves no half of an escaped one.
 */
function escape(text: string, limit: number): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return clip(escaped, limit).replace(/&[a-z]*…$/, '…')
}

function onLine(text: string, limit: number): string {
  return readable(text, limit).replaceAll(/\s+/g, ' ').trim()
}

/** Without what is not to be seen: halves of characters, controls, and format characters such as marks that turn the direction. */
function readable(text: string, limit: number): string {
  // Of a text that is far too long, the end is not looked at.
  const begin = text.length > 4 * limit ? text.slice(0, 4 * limit) : text
  return plainText(begin.toWellFormed())
}

/** Text that runs from right to left would take the numbers that follow with it, and they would read as another's. */
function isolated(text: string): string {
  return /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/.test(text) ? `\u2068${text}\u2069` : text
}
