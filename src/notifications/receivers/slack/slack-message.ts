import type { Alert } from '../../../alerts/alert.ts'
import { hasEnded, type Notification } from '../../../alerts/notification.ts'
import { isBeyond } from '../../../alerts/signal.ts'
import type { Severity } from '../../../alerts/match-keys.ts'
import { formatTime, plural } from '../../../text/format.ts'
import type { AlertMessage, FlappedAlert, Message, StoreMessage, TextOptions } from '../../message.ts'
import { nameIn, oneLine } from '../../text/bounded.ts'
import { bulletinOf, type Bulletin } from '../../text/bulletin.ts'
import {
  elsewhereText,
  groupLines,
  groupTitle,
  improvementOf,
  unroutedText,
  withWhatFires,
} from '../../text/group-text.ts'
import { isRecovering } from '../../../alerts/text/incident-text.ts'
import { groupParts, partsOf, type AlertLine, type AlertPart } from '../../text/message-parts.ts'
import { flappedText } from '../../text/flapped-text.ts'
import { resultOf, summaryOf, titleOf } from '../../../alerts/text/alert-text.ts'
import { MAX_PROBLEM, storeText } from '../../text/store-text.ts'
import {
  actions,
  code,
  context,
  dated,
  escape,
  fields,
  link,
  plainContext,
  section,
  sections,
  shortest,
  titled,
  type SlackBlock,
  type SlackMessage,
} from './slack-blocks.ts'

/**
 * A message in Slack's Block Kit, with enough to decide without opening anything else, and always within Slack's limits.
 * Texts from the configuration can neither break it nor mention users.
 */
export function slackMessage(message: Message, options: TextOptions): SlackMessage {
  return dated(plainMessage(message, options), options.now)
}

function plainMessage(message: Message, options: TextOptions): SlackMessage {
  switch (message.kind) {
    case 'alerts':
      return alertsMessage(withWhatFires(message), options)
    case 'report':
      return bulletinMessage(bulletinOf(message))
    default:
      return storeMessage(message)
  }
}

/** What a message shows whose incident continues in another one. */
export function slackContinued(
  { group }: Pick<AlertMessage, 'group'>,
  { channel, ts }: { channel: string; ts: string },
): SlackMessage {
  const seconds = Number.parseInt(ts, 10)
  const what = nameIn(Object.values(group).join(', ') || 'All alerts', 100)
  const where = `Continues in <#${channel}>, in the message of ${formatTime(seconds)}`
  return dated(titled(`➡️ ${what}: continues in another message`, '', FALLBACK, [section(where)]), seconds)
}

function bulletinMessage({ title, parts, notes }: Bulletin): SlackMessage {
  const texts = parts.map(({ name, lead, lines }) =>
    [`${code(name)} *${escape(lead)}*`, ...lines.map(escape)].join('\n'),
  )
  const all = parts.map(({ name, lead }) => `${name}: ${lead}`).join('; ')
  return titled(`📊 ${title}`, `: ${all || 'no target'}`, 1000, [...sections(texts), ...context(notes.map(escape))])
}

function storeMessage(message: StoreMessage): SlackMessage {
  const { title, line } = storeText(message)
  const emoji = EMOJI[message.state === 'failing' ? 'critical' : 'resolved']
  return titled(`${emoji} ${title}`, `. ${line}`, 1000, [
    section(storeText(message, (problem) => code(oneLine(problem, MAX_PROBLEM))).line),
  ])
}

/** The first thing a reader sees: the severity of what is beyond its threshold, yellow for what is not, a tick for resolved, white for unknown. */
const EMOJI = { critical: '🔴', warning: '🟠', info: '🔵', within: '🟡', resolved: '✅', expired: '⚪' } as const

function emojiOf(notification: Notification): string {
  const { kind, severity, value, threshold } = notification
  if (kind !== 'firing') return EMOJI[kind]
  return EMOJI[isBeyond(notification, value, threshold) ? severity : 'within']
}

/** A phone's notification shows only a few lines (characters). */
const FALLBACK = 500

/** The alerts of a group: of one target one by one, of several targets as an incident. */
function alertsMessage(message: AlertMessage, options: TextOptions): SlackMessage {
  const title = titleOfMessage(message)
  const blocks = message.target === undefined ? groupBlocks(message, options) : targetBlocks(message, options)
  return titled(title, `: ${whatIn(message)}`, FALLBACK, blocks)
}

function groupBlocks(message: AlertMessage, { now }: TextOptions): SlackBlock[] {
  const { lines, notes, links } = groupParts(message, now)
  return [...sections(lines.map(escape)), ...context(notes), ...actions(links)]
}

function targetBlocks(message: AlertMessage, { now }: TextOptions): SlackBlock[] {
  const { alerts, lines, more, links, inhibited, silenced, notes } = partsOf(message, now)
  const [alone] = message.alerts.length === 1 ? alerts : []
  const calls = { name: 'Calls', url: message.alerts[0]?.links?.calls }
  return [
    ...(alone === undefined ? alerts.map(inGroup) : aloneBlocks(alone)),
    ...sections([...lines.map(lineText), ...more]),
    ...inhibited.map(plainContext),
    ...context(silenced.map((text) => `🔕 ${escape(text)}`)),
    ...context(notes),
    ...actions(alone === undefined ? shortest([calls, ...links]) : alone.links.toSpliced(2, 0, ...links)),
  ]
}

function aloneBlocks({ result, facts, description, notes }: AlertPart): SlackBlock[] {
  return [
    section(`*${escape(result)}*`),
    ...fields(facts.map(([name, value]) => [name, escape(value)])),
    ...sections(description.map(escape)),
    ...context(notes),
  ]
}

/** One of several alerts: it names the alert and has its own runbook button. */
function inGroup({ notification, name, page, result, facts, description, notes, links }: AlertPart): SlackBlock {
  const lines = [
    `${emojiOf(notification)} ${link(page, name)}`,
    `*${escape(result)}*`,
    ...facts.map(([fact, value]) => `*${fact}* ${escape(value)}`),
    ...description.map(escape),
    ...notes,
  ]
  return section(
    lines.join('\n'),
    links.find((each) => each.name === 'Runbook'),
  )
}

/** An alert in one line, with a link to its page. */
function lineText({ notification, over, name, page, text }: AlertLine): string {
  return `${over === undefined ? `${emojiOf(notification)} ` : ''}${link(page, name)} ${escape(text)}`
}

/** What a phone's notification shows below the title, if there is room for a line. */
function whatIn(message: AlertMessage): string {
  const { target, alerts, flapped } = message
  if (target === undefined) return groupLines(message)[0] ?? ''
  const [first] = alerts
  if (first === undefined && flapped.length === 1) return flappedText(flapped[0]!)
  const others = [...alerts.slice(1), ...flapped].map(({ notification }) => titleOf(notification)).join(', ')
  if (first === undefined) return others
  const { notification } = first
  const result = notification.kind === 'resolved' ? summaryOf(notification) : resultOf(notification)
  return alerts.length === 1 ? result : `${nameIn(titleOf(notification), 75)}: ${result}; ${others}`
}

/** `🔴 critical: HighFailureRate on production`: what a phone's lock screen shows. */
function titleOfMessage(message: AlertMessage): string {
  if (message.about === 'unrouted') return `➡️ ${nameIn(unroutedText(message), 130)}`
  const { target, elsewhere: [other] } = message // oxfmt-ignore
  if (target === undefined) return titleOfGroup(message)
  const title = titleOnTarget(message, target)
  if (other === undefined) return title
  // Not all is well there.
  return `${emojiElsewhere(other)} ${nameIn(elsewhereText(message), 70)}; ${nameIn(title.slice(title.indexOf(' ') + 1), 70)}`
}

const emojiElsewhere = (other: Alert) =>
  isBeyond(other, other.value, other.threshold) ? EMOJI[other.severity] : EMOJI.within

function titleOnTarget(message: AlertMessage, target: string): string {
  const { alerts, flapped } = message
  const on = `on ${nameIn(target, 40)}`
  const [first, second] = alerts
  if (first === undefined) return titleOfPast(flapped, on)
  const { kind } = first.notification
  const { severity } = second === undefined ? first.notification : message
  const kinds = Map.groupBy(alerts, ({ notification }) => (hasEnded(notification) ? notification.kind : 'firing'))
  const emoji = emojiOfAll(
    alerts.map(({ notification }) => notification),
    severity,
  )
  const state =
    message.about === 'reminder' ? `still ${severity}` : hasEnded(first.notification) ? stateWord(kind) : severity
  if (second === undefined) return `${emoji} ${state}: ${nameIn(titleOf(first.notification), 75)} ${on}`
  if (kinds.size === 1) return `${emoji} ${state}: ${plural(alerts.length, 'alert')} ${on}`
  const improvement = improvementOf(message)
  if (improvement !== undefined) return `${emoji} ${severity}: ${nameIn(improvement, 130)}`
  const parts = [...kinds].map(([each, { length }]) => `${length} ${stateWord(each)}`).join(', ')
  return `${emoji} ${kinds.has('firing') ? `${severity}: ` : ''}${parts} ${on}`
}

function titleOfPast(flapped: readonly FlappedAlert[], on: string): string {
  const what = flapped.length === 1 ? nameIn(titleOf(flapped[0]!.notification), 75) : plural(flapped.length, 'alert')
  const hasExpired = flapped.some((each) => each.hasExpired)
  const state = hasExpired ? `${EMOJI.expired} already over` : `${EMOJI.resolved} already resolved`
  return `${state}: ${what} ${on}`
}

function titleOfGroup(message: AlertMessage): string {
  const { severity, incident, alerts, elsewhere } = message
  const hasExpired = alerts.some(({ notification }) => notification.kind === 'expired')
  const title = nameIn(groupTitle(message), 130)
  const [other] = elsewhere
  if (incident === undefined)
    return `${other === undefined ? EMOJI[hasExpired ? 'expired' : 'resolved'] : emojiElsewhere(other)} ${title}`
  return isRecovering(incident) ? `${EMOJI.within} ${title}` : `${EMOJI[severity]} ${severity}: ${title}`
}

/** That of what fires, if something is beyond its threshold, or else of what ended in one way. */
function emojiOfAll(alerts: readonly Notification[], severity: Severity): string {
  const firing = alerts.filter((one) => !hasEnded(one))
  const [emoji, ...others] = new Set((firing.length > 0 ? firing : alerts).map((one) => emojiOf({ ...one, severity })))
  if (others.length === 0) return emoji!
  return firing.length > 0 ? EMOJI[severity] : EMOJI.expired
}

function stateWord(kind: string): string {
  return kind === 'expired' ? 'expired, not resolved' : kind
}
