import { isBeyond } from '../../alerts/signal.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { formatSeconds, formatTime, plural } from '../../text/format.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert, InhibitedAlert } from '../message.ts'
import { factsOf, flapsText, notesOf } from './alert-facts.ts'
import { firstOf, nameIn, oneLine, paragraphs } from './bounded.ts'
import { groupLines, runbookOfGroup, silencedText } from './group-text.ts'
import { descriptionOf, resultOf, summaryOf, titleOf } from '../../alerts/text/alert-text.ts'
import { endOf, flappedText } from './flapped-text.ts'

/** An alert, its name, and its page. */
type Named = { notification: Notification; name: string; page: string | undefined }

/** One of the first alerts, with all that is known of it. */
export type AlertPart = ReturnType<typeof partOf>

/** @property over how an alert ended that resolved between deliveries */
export type AlertLine = Named & { over?: 'resolved' | 'expired'; text: string }

export type Link = { name: string; url: string | undefined }

/** How many alerts, and how many characters of their texts, a message has at most: with one alert, and with several. */
const ALONE = { inFull: 1, lines: 3, result: 400, facts: 9, value: 200, description: 1500 }
const SEVERAL = { inFull: 3, lines: 7, result: 200, facts: 5, value: 80, description: 300 }
/** The same for a line, and for what is silenced or inhibited. */
const LINE = { ofGroup: 250, name: 100, summary: 180, named: 3, target: 40, reason: 60 }
/** A message delivered later than this (seconds) says so. */
const LATE_AFTER_SECONDS = 120

/**
 * A message about one target, as receivers show it: the first alerts with all that is known of them; further alerts, and those that
 * resolved between deliveries, a line each; how many more there are, with a link to the page; what is inhibited or silenced; and when a
 * late message was made. All texts are bounded, so that Slack accepts the longest message.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function partsOf(message: AlertMessage, now: number) {
  const { target, alerts, flapped, inhibited, links } = message
  const silence = silenceOf(message)
  const most = alerts.length === 1 ? ALONE : SEVERAL
  const others = [...alerts.slice(most.inFull).map(lineOf), ...flapped.map(flappedLineOf)]
  const { first: lines, more } = firstOf(others, most.lines)
  return {
    alerts: alerts.slice(0, most.inFull).map((update) => partOf(update, most, now, silence)),
    lines,
    more,
    /** Beside those of the first alerts. */
    links: [
      { name: 'Overview', url: links?.overview },
      { name: 'Runbook', url: alerts.length === 0 ? runbookOfGroup(message) : undefined },
      ...(most === ALONE ? [] : [silence]),
    ],
    inhibited: listOf('Also firing', inhibited, (each) => inhibitedText(each, target)),
    silenced: silencedText(message),
    notes: timeNotes(message, now),
  }
}

/** A message about several targets: the incident in a few lines. */
export function groupParts(message: AlertMessage, now: number): { lines: string[]; notes: string[]; links: Link[] } {
  const { links } = message
  return {
    lines: groupLines(message).map((line) => oneLine(line, LINE.ofGroup)),
    notes: timeNotes(message, now),
    links: [
      { name: 'Overview', url: links?.overview },
      { name: 'Calls', url: links?.calls },
      silenceOf(message),
      { name: 'Runbook', url: runbookOfGroup(message) },
    ],
  }
}

/** What silences all that fires of the incident; its URL is undefined if nothing does. */
function silenceOf({ incident, links, alerts }: AlertMessage): Link {
  const isOther = alerts.length === 1 && hasEnded(alerts[0]!.notification)
  return {
    name: incident?.firing.length === 1 && !isOther ? 'Silence' : 'Silence all',
    url: incident && links?.silence,
  }
}

/** Since when its alerts are no longer silenced, and for how long a message could not be sent: `first tried 2026-11-20 08:15:30 UTC, delivered 3h later`. */
function timeNotes({ alerts, flapped, failingSince = Infinity }: AlertMessage, now: number): string[] {
  const silenced = alerts.flatMap(({ silencedUntil }) => silencedUntil ?? [])
  // The receiver may have failed long before.
  const told = [...alerts, ...flapped].map(({ notification }) => notification)
  const due = Math.min(...told.map((one) => (hasEnded(one) ? one.at : one.firingSince)))
  const tried = Math.max(failingSince, Number.isFinite(due) ? due : 0)
  const late = now - tried
  return [
    silenced.length > 0 &&
      `no longer silenced since ${formatTime(Math.max(...silenced))}: ${plural(silenced.length, 'alert')}`,
    late > LATE_AFTER_SECONDS && `first tried ${formatTime(tried)}, delivered ${formatSeconds(late)} later`,
  ].filter((note) => note !== false)
}

function named({ notification, links }: AlertUpdate | FlappedAlert): Named {
  return { notification, name: oneLine(titleOf(notification), LINE.name), page: links?.alert }
}

/** @param all what silences all, which is that of an alert alone */
function partOf(update: AlertUpdate, most: typeof ALONE, now: number, all: Link) {
  const { notification, flaps, links } = update
  // In a message with several alerts, the rule leaves no room for the others.
  const facts = factsOf(notification, now).filter(([name]) => most === ALONE || name !== 'Rule')
  // The description says what is wrong, so it does not apply to what is within its threshold again.
  const isOver = hasEnded(notification) || !isBeyond(notification, notification.value, notification.threshold)
  const description =
    isOver && notification.held === undefined ? '' : paragraphs(descriptionOf(notification) ?? '', most.description)
  const own = { name: 'Silence', url: hasEnded(notification) ? undefined : links?.silence }
  return {
    ...named(update),
    result: oneLine(resultOf(notification), most.result),
    facts: facts.slice(0, most.facts).map(([name, value]): [string, string] => [name, oneLine(value, most.value)]),
    /** One or none. */
    description: description === '' ? [] : [description],
    notes: notesOf(notification, flaps),
    links: [
      { name: 'Alert', url: links?.alert },
      { name: 'Calls', url: links?.calls },
      { name: 'Runbook', url: notification.runbookUrl },
      most === ALONE && all.url !== undefined ? all : own,
    ],
  }
}

function lineOf(update: AlertUpdate): AlertLine {
  const { notification, flaps } = update
  const more = flaps > 0 ? ` (${flapsText(flaps)})` : ''
  return { ...named(update), text: `${oneLine(summaryOf(notification), LINE.summary)}${more}` }
}

function flappedLineOf(flapped: FlappedAlert): AlertLine {
  return { ...named(flapped), over: endOf(flapped), text: oneLine(flappedText(flapped), LINE.summary) }
}

/** `Silenced: A; B; and 3 more`, or nothing. */
function listOf<Item>(what: string, items: readonly Item[], textOf: (item: Item) => string): string[] {
  const { first, more } = firstOf(items, LINE.named)
  return first.length === 0 ? [] : [`${what}: ${[...first.map(textOf), ...more].join('; ')}`]
}

function inhibitedText({ alert, target: own, severity }: InhibitedAlert, target: string | undefined): string {
  return `${nameIn(alert, LINE.name)} (${severity})${onTarget(own, target)}`
}

function onTarget(own: string, target: string | undefined): string {
  return own === target ? '' : ` on ${nameIn(own, LINE.target)}`
}
