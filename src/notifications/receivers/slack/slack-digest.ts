import { dayWithWeekday, digestLine, digestSplit } from '../../text/digest-text.ts'
import type { DigestMessage, TextOptions } from '../../message.ts'
import { actions, context, header, LIMITS, MESSAGE_SIZE, section, sizeOf, type SlackMessage } from './slack-blocks.ts'
import { listing } from './slack-listing.ts'
import { code, fallback, plain, sentence } from './slack-text.ts'

/** The size of the sections without their texts. */
const FRAMES = 500

/** A day, target by target. */
export function digestMessage(
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
  return {
    text: fallback(`📊 Calls on ${dayWithWeekday(day)}: ${all || 'no target'}`, 1000),
    blocks: [title, ...texts.map((text) => section(text)), ...note, ...buttons],
    unfurl_links: false,
    unfurl_media: false,
  }
}
