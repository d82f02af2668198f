import type { Notification } from '../../../alerts/notification.ts'
import type {
  AlertUpdate,
  FlappedAlert,
  AlertMessage,
  SilencedAlert,
  InhibitedAlert,
  TextOptions,
} from '../../message.ts'
import { factsOf, flapsText, isFiring, notesOf } from '../../text/alert-facts.ts'
import { flappedText, descriptionOf, resultOf, summaryOf, titleOf } from '../../text/notification-text.ts'
import { formatSeconds, formatTime, plural } from '../../../text/format.ts'
import { groupLines, groupTitle, runbookOf } from '../../text/group-text.ts'
import {
  context,
  fields,
  section,
  type SlackBlock,
  actions,
  header,
  LIMITS,
  MESSAGE_SIZE,
  plainContext,
  sizeOf,
  type Link,
  type SlackMessage,
  code,
  link,
  prose,
  sentence,
  fallback,
  plain,
  withoutPreviews,
} from './slack-blocks.ts'
import { type Item, listing } from './slack-listing.ts'

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
function signOf({ kind, severity }: Pick<Notification, 'kind' | 'severity'>): string {
  return kind === 'resolved' || kind === 'expired' ? SIGNS[kind] : FIRING_SIGNS[severity]
}

/**
 * All that is known about an alert. In a message with several alerts, it names the alert and has its own runbook button.
 *
 * @param now the host's clock (UNIX seconds)
 */
function alertBlocks(
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
function alertItem({ notification, flaps, links }: AlertUpdate, name: string): Item {
  const shown = link(links?.alert, name, NAME)
  const more = flaps > 0 ? ` (${flapsText(flaps)})` : ''
  const line = `${signOf(notification)} ${shown} ${sentence(summaryOf(notification), RESULT)}${more}`
  return { line, name: code(name, NAME) }
}

/** An alert that fired and resolved between deliveries, in the same way. */
function flappedItem(flapped: FlappedAlert, name: string): Item {
  const shown = link(flapped.links?.alert, name, NAME)
  return { line: `${shown} ${sentence(flappedText(flapped), FLAPPED)}`, name: code(name, NAME) }
}

/** A line of a message about several targets (characters). */
const LINE = 250
/** A message delivered later than this (seconds) says so. */
const LATE_AFTER_SECONDS = 120
/** Nobody reads more alerts in full. Further alerts get one line each. */
const MAX_IN_FULL = 5
/** Reserved for the alerts themselves, whatever else the message contains (out of MESSAGE_SIZE). */
const ROOM_FOR_ALERTS = 7000
/** The most room for alerts that resolved between deliveries, and for silenced ones (characters). */
const ROOM_FOR_FLAPPED = 2000
const ROOM_FOR_SILENCED = 1000
/** A phone's notification shows only a few lines (characters). */
const FALLBACK = 500
/** The size of a block without its text. */
const FRAME = 100

/** The alerts of a group. For one target: the first ones in full, others in one line each, and the rest by name only. */
export function alertsMessage(message: AlertMessage, { now, dashboardUrl }: TextOptions): SlackMessage {
  const title = header(titleOfMessage(message))
  if (message.target === undefined) return groupMessage(message, title, { now, dashboardUrl })
  const after = afterwards(message, { now, dashboardUrl }, MESSAGE_SIZE - sizeOf([title]) - ROOM_FOR_ALERTS)
  const body = alertsWithin(message.alerts, MESSAGE_SIZE - sizeOf([title, ...after]), now)
  const text = fallback(`${titleOfMessage(message)}: ${whatIn(message)}`, FALLBACK)
  return withoutPreviews(text, [title, ...body, ...after])
}

/** The incident in a few lines, for several targets. */
function groupMessage(message: AlertMessage, title: SlackBlock, { now, dashboardUrl }: TextOptions): SlackMessage {
  const lines = groupLines(message).map((line) => sentence(line, LINE))
  const { links, alerts, incident } = message
  return withoutPreviews(fallback(`${titleOfMessage(message)}: ${whatIn(message)}`, FALLBACK), [
    title,
    ...(lines.length === 0 ? [] : [section(lines.join('\n'))]),
    ...context(lateNote(alerts, now)),
    ...actions([
      { name: 'Overview', url: links?.overview ?? dashboardUrl },
      { name: 'Calls', url: links?.calls },
      ...(incident === undefined ? [] : [{ name: 'Silence all', url: links?.silence }]),
      { name: 'Runbook', url: runbookOf(message) },
    ]),
  ])
}

/** What a phone's notification shows below the title, if there is room for a line. */
function whatIn(message: AlertMessage): string {
  const { target, alerts, flapped, silenced } = message
  if (target === undefined) return groupLines(message)[0] ?? ''
  const [first] = alerts
  if (first !== undefined && alerts.length === 1) {
    // The title already says that a reminder still fires.
    return first.notification.kind === 'resolved' ? summaryOf(first.notification) : resultOf(first.notification)
  }
  if (alerts.length === 0 && flapped.length === 1) return flappedText(flapped[0]!)
  const names = [...alerts, ...flapped].map(({ notification }) => titleOf(notification))
  return names.length > 0 ? names.join(', ') : silenced.map(({ alert }) => alert).join(', ')
}

/** `🔴 critical: HighFailureRate on production`: what a phone's lock screen shows. */
function titleOfMessage(message: AlertMessage): string {
  const { target, severity, alerts, flapped, silenced } = message
  if (target === undefined) return titleOfGroup(message)
  const on = `on ${plain(target, 40)}`
  const [first, second] = alerts
  if (first === undefined) return titleOfPast(flapped, silenced.length, on)
  const { kind } = first.notification
  const kinds = Map.groupBy(alerts, ({ notification }) => (isFiring(notification) ? 'firing' : notification.kind))
  const sign = signOf(kinds.has('firing') || kinds.size === 1 ? first.notification : { kind: 'expired', severity })
  const isReminder = alerts.every(({ notification }) => notification.kind === 'reminder')
  const state = isReminder ? `still ${severity}` : isFiring(first.notification) ? severity : stateWord(kind)
  if (second === undefined) return `${sign} ${state}: ${plain(titleOf(first.notification), 75)} ${on}`
  if (kinds.size === 1) return `${sign} ${state}: ${plural(alerts.length, 'alert')} ${on}`
  const parts = [...kinds].map(([each, { length }]) => `${length} ${stateWord(each)}`).join(', ')
  return `${sign} ${kinds.has('firing') ? `${severity}: ` : ''}${parts} ${on}`
}

function titleOfPast(flapped: readonly FlappedAlert[], silenced: number, on: string): string {
  if (flapped.length === 0) return `🔕 silenced: ${plural(silenced, 'alert')} ${on}`
  const what = flapped.length === 1 ? plain(titleOf(flapped[0]!.notification), 75) : plural(flapped.length, 'alert')
  const hasExpired = flapped.some((each) => each.hasExpired)
  return hasExpired
    ? `${SIGNS.expired} already over: ${what} ${on}`
    : `${SIGNS.resolved} already resolved: ${what} ${on}`
}

function titleOfGroup(message: AlertMessage): string {
  const { severity, incident, alerts } = message
  const hasExpired = alerts.some(({ notification }) => notification.kind === 'expired')
  const sign = incident === undefined ? SIGNS[hasExpired ? 'expired' : 'resolved'] : FIRING_SIGNS[severity]
  return `${sign} ${incident === undefined ? '' : `${severity}: `}${plain(groupTitle(message), 130)}`
}

function stateWord(kind: string): string {
  return kind === 'expired' ? 'expired, not resolved' : kind
}

function alertsWithin(alerts: readonly AlertUpdate[], size: number, now: number): SlackBlock[] {
  if (alerts.length === 1) return alertBlocks(alerts[0]!, { place: 'alone', now })
  const inFull = alerts.slice(0, MAX_IN_FULL).map((update) => alertBlocks(update, { place: 'inGroup', now }))
  const items = alerts.map((update) => alertItem(update, titleOf(update.notification)))
  for (let full = inFull.length; full > 0; full -= 1) {
    const first = inFull.slice(0, full).flat()
    const others = items.slice(full)
    const left = size - sizeOf(first)
    const needed = others.reduce((sum, { line }) => sum + JSON.stringify(line).length, 4 * FRAME)
    // Every alert in one line is better than some in full and others missing.
    if (needed <= left || full === 1) return [...first, ...sections(others, left)]
  }
  return []
}

/** The parts below the alerts, most important first, while there is room. */
function afterwards(message: AlertMessage, { now, dashboardUrl }: TextOptions, size: number): SlackBlock[] {
  const { target, alerts, flapped, silenced, inhibited } = message
  let left = size
  const take = (make: (room: number) => SlackBlock[]) => {
    const blocks = make(left)
    left -= sizeOf(blocks)
    return blocks
  }
  const links: Link[] = [{ name: 'Dashboard', url: dashboardUrl }]
  if (alerts.length === 1) {
    const { notification, links: pages } = alerts[0]!
    links.unshift({ name: 'Alert', url: pages?.alert }, { name: 'Calls', url: pages?.calls })
    links.push({ name: 'Runbook', url: notification.runbookUrl })
    if (isFiring(notification)) links.push({ name: 'Silence', url: pages?.silence })
  }
  const buttons = take((room) => {
    const all = actions(links)
    return sizeOf(all) <= room ? all : actions(links.slice(0, 1))
  })
  const late = take(() => context(lateNote(alerts, now)))
  const over = take((room) =>
    sections(
      flapped.map((each) => flappedItem(each, titleOf(each.notification))),
      Math.min(room, ROOM_FOR_FLAPPED),
    ),
  )
  const quiet = take((room) => {
    const items = silenced.map((each) => silencedItem(each, target))
    const texts = listing(items, Math.min(room, ROOM_FOR_SILENCED) - FRAME, ROOM_FOR_SILENCED)
    return texts.map((text) => plainContext(`🔕 Silenced: ${text.replaceAll('\n', '; ')}`))
  })
  const lower = take((room) => {
    const items = inhibited.map((each) => inhibitedItem(each, target))
    const texts = listing(items, Math.min(room, ROOM_FOR_SILENCED) - FRAME, ROOM_FOR_SILENCED)
    return texts.map((text) => plainContext(`Also firing: ${text.replaceAll('\n', '; ')}`))
  })
  return [...over, ...lower, ...quiet, ...late, ...buttons]
}

function lateNote(alerts: readonly AlertUpdate[], now: number): string[] {
  const times = alerts.map(({ notification }) => notification.at).filter((at) => now - at > LATE_AFTER_SECONDS)
  if (times.length === 0) return []
  const oldest = Math.min(...times)
  const which = alerts.length === 1 ? 'made' : times.length === alerts.length ? 'the oldest made' : 'some made'
  return [`${which} ${formatTime(oldest)}, delivered ${formatSeconds(now - oldest)} later`]
}

function silencedItem({ alert, target: own, until, reason }: SilencedAlert, target: string | undefined): Item {
  const name = plain(alert, 150)
  const why = plain(reason, 150)
  return { line: `${name}${onTarget(own, target)} until ${formatTime(until)}${why === '' ? '' : ` (${why})`}`, name }
}

function inhibitedItem({ alert, target: own, severity }: InhibitedAlert, target: string | undefined): Item {
  const name = plain(alert, 150)
  return { line: `${name} (${severity})${onTarget(own, target)}`, name }
}

function onTarget(own: string, target: string | undefined): string {
  return own === target ? '' : ` on ${plain(own, 40)}`
}

function sections(items: readonly Item[], room: number): SlackBlock[] {
  return listing(items, room - 4 * FRAME, LIMITS.text).map((text) => section(text))
}
