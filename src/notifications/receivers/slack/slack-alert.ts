import type { Notification } from '../../../alerts/notification.ts'
import type { AlertUpdate, FlappedAlert } from '../../message.ts'
import { factsOf, flapsText, isFiring, notesOf } from '../../text/alert-facts.ts'
import { flappedText } from '../../text/flapped-text.ts'
import { descriptionOf, resultOf, summaryOf, titleOf } from '../../text/notification-text.ts'
import { context, fields, section, type SlackBlock } from './slack-blocks.ts'
import type { Item } from './slack-listing.ts'
import { code, link, prose, sentence } from './slack-text.ts'

/** The most characters of each text, so that configured texts leave room for the numbers. */
const RESULT = 600
const FLAPPED = 300
const NAME = 150
const VALUE = 200
const DESCRIPTION = { alone: 1500, inGroup: 500 }
/** In a message with several alerts, a longer address gets no button: the other alerts need the room. */
const GROUP_URL = 500

const FIRING_SIGNS = { critical: '🔴', warning: '🟠', info: '🔵' } as const
const SIGNS = { resolved: '✅', expired: '⚪' } as const

/** The first thing a reader sees: red for firing, a tick for resolved, white for unknown. */
export function signOf({ kind, severity }: Pick<Notification, 'kind' | 'severity'>): string {
  return kind === 'resolved' || kind === 'expired' ? SIGNS[kind] : FIRING_SIGNS[severity]
}

/**
 * All that is known about an alert. In a message with several alerts, it names the alert and has its own runbook button.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function alertBlocks(
  { notification, flaps, links }: AlertUpdate,
  { place, now }: { place: 'alone' | 'inGroup'; now: number },
): SlackBlock[] {
  const { runbookUrl } = notification
  const result = `*${sentence(resultOf(notification), RESULT)}*`
  // The description says what is wrong, so it does not apply to an alert that ended.
  const description = isFiring(notification) ? prose(descriptionOf(notification) ?? '', DESCRIPTION[place]) : ''
  const url = runbookUrl !== undefined && runbookUrl.length <= GROUP_URL ? runbookUrl : undefined
  const facts = factsOf(notification, now).filter(([name]) => place === 'alone' || name !== 'Rule')
  return [
    place === 'alone'
      ? section(result)
      : section(`${signOf(notification)} ${link(links?.alert, titleOf(notification), NAME)}\n${result}`, {
          name: 'Runbook',
          url,
        }),
    // Several alerts in full leave no room for what the reader can look up.
    ...fields(facts.map(([name, value]) => [name, sentence(value, VALUE)])),
    ...(description === '' ? [] : [section(description)]),
    ...context(notesOf(notification, flaps)),
  ]
}

/** An alert in one line, with a link to its page. @param name of the alert, or of the place where it fires */
export function alertItem({ notification, flaps, links }: AlertUpdate, name: string): Item {
  const shown = link(links?.alert, name, NAME)
  const more = flaps > 0 ? ` (${flapsText(flaps)})` : ''
  const line = `${signOf(notification)} ${shown} ${sentence(summaryOf(notification), RESULT)}${more}`
  return { line, name: code(name, NAME) }
}

/** An alert that fired and resolved between deliveries, in the same way. */
export function flappedItem(flapped: FlappedAlert, name: string): Item {
  const shown = link(flapped.links?.alert, name, NAME)
  return { line: `${shown} ${sentence(flappedText(flapped), FLAPPED)}`, name: code(name, NAME) }
}
