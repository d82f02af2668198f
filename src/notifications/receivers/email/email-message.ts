import { isLink } from '../../../schema/web-address.ts'
import { formatSeconds, formatTime } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import type {
  AlertMessage,
  AlertUpdate,
  DigestMessage,
  FlappedAlert,
  Message,
  StoreMessage,
  TextOptions,
} from '../../message.ts'
import { factsOf, flapsText, isFiring, notesOf } from '../../text/alert-facts.ts'
import { dayWithWeekday, digestLine, digestSplit } from '../../text/digest-text.ts'
import { descriptionOf, resultOf, summaryOf, titleOf, flappedText } from '../../text/notification-text.ts'
import { groupLines, groupTitle, runbookOf } from '../../text/group-text.ts'
import { storeText } from '../../text/store-text.ts'

/** Subject and body; the body as plain text and as HTML. */
export type EmailMessage = { subject: string; text: string; html: string }

/** The content from which both forms of the body are made. */
type Content = { subject: string; parts: readonly Section[]; notes: readonly string[]; links: readonly Link[] }
type Section = {
  title: string
  lines: readonly string[]
  facts?: readonly (readonly [name: string, value: string])[]
  links?: readonly Link[]
}
type Link = readonly [name: string, url: string | undefined]

/** Characters. Mail programs show fewer in lists. */
const MAX_SUBJECT = 200
/** The most that is shown of a configured text (characters). */
const MAX_TEXT = 4000
/** Further alerts get one line each. */
const MAX_IN_FULL = 20
/** A message delivered later than this (seconds) says so. */
const LATE_AFTER_SECONDS = 120

/** A message as an e-mail, with enough to decide without opening anything else. */
export function emailMessage(message: Message, options: TextOptions): EmailMessage {
  const content = contentOf(message, options)
  const subject = onLine(content.subject)
  return {
    subject: subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1).toWellFormed()}…` : subject,
    text: plainBody(content),
    html: htmlBody(content),
  }
}

function contentOf(message: Message, { now, dashboardUrl }: TextOptions): Content {
  const links: Link[] = [['Dashboard', dashboardUrl]]
  switch (message.kind) {
    case 'alerts':
      return { ...alertsContent(message, now), links }
    case 'digest':
      return { ...digestContent(message), links }
    default:
      return { ...storeContent(message), links }
  }
}

function alertsContent(message: AlertMessage, now: number): Omit<Content, 'links'> {
  const { target, alerts, flapped, silenced, inhibited } = message
  const oldest = Math.min(...alerts.map(({ notification }) => notification.at))
  const late =
    now - oldest > LATE_AFTER_SECONDS
      ? [`Made ${formatTime(oldest)}, delivered ${formatSeconds(now - oldest)} later.`]
      : []
  const subject = subjectOf(message)
  if (target === undefined) {
    const links: Link[] = [
      ['Overview', message.links?.overview],
      ['Calls', message.links?.calls],
      ['Silence all', message.incident && message.links?.silence],
      ['Runbook', runbookOf(message)],
    ]
    return { subject, parts: [{ title: groupTitle(message), lines: groupLines(message), links }], notes: late }
  }
  const inALine = alerts.slice(MAX_IN_FULL)
  const lines = [
    ...inALine.map(({ notification, flaps }) => {
      const more = flaps > 0 ? ` (${flapsText(flaps)})` : ''
      return `[${notification.kind}] ${titleOf(notification)}: ${summaryOf(notification)}${more}`
    }),
    ...flapped.map((each) => `[${stateOf(each)}] ${titleOf(each.notification)} ${flappedText(each)}`),
  ]
  const links = [...inALine, ...flapped].map(
    ({ notification, links: pages }) => [titleOf(notification), pages?.alert] as const,
  )
  const title = alerts.length === 0 ? 'Already over' : 'More'
  return {
    subject,
    parts: [
      ...alerts.slice(0, MAX_IN_FULL).map((update) => sectionOf(update, now)),
      ...(lines.length > 0 ? [{ title, lines, links }] : []),
    ],
    notes: [
      ...inhibited.map(
        ({ alert, target: own, severity }) =>
          `Also firing: ${alert} (${severity})${own === target ? '' : ` on ${own}`}`,
      ),
      ...silenced.map(({ alert, until, reason }) => `Silenced: ${alert} until ${formatTime(until)} (${reason})`),
      ...late,
    ],
  }
}

/** `[firing] critical HighFailureRate on production: …`. For several alerts, their number and names. */
function subjectOf(message: AlertMessage): string {
  const { target, severity, alerts, flapped, silenced } = message
  const [first] = alerts
  if (target === undefined) {
    const kind = message.incident === undefined ? (first?.notification.kind ?? 'resolved') : 'firing'
    return `[${kind}] ${severity} ${groupTitle(message)}`
  }
  if (first !== undefined && alerts.length === 1) {
    const { notification } = first
    return `[${notification.kind}] ${severity} ${titleOf(notification)} on ${target}: ${resultOf(notification)}`
  }
  if (first === undefined && flapped.length === 1) {
    return `[${stateOf(flapped[0]!)}] ${severity} ${titleOf(flapped[0]!.notification)} on ${target}: ${flappedText(flapped[0]!)}`
  }
  const kinds = Map.groupBy(
    [...alerts.map(({ notification }) => notification.kind), ...flapped.map(() => 'resolved')],
    (kind) => kind,
  )
  const counts = [...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  const names = [...alerts, ...flapped].map(({ notification }) => titleOf(notification))
  if (names.length === 0) return `[silenced] ${severity} on ${target}: ${silenced.map(({ alert }) => alert).join(', ')}`
  return `[${counts}] ${severity} on ${target}: ${names.join(', ')}`
}

const stateOf = ({ hasExpired }: FlappedAlert) => (hasExpired ? 'expired' : 'resolved')

function sectionOf({ notification, flaps, links }: AlertUpdate, now: number): Section {
  const { kind, runbookUrl } = notification
  // The description says what is wrong, so it does not apply to an alert that ended.
  const description = isFiring(notification) ? descriptionOf(notification) : undefined
  return {
    title: `[${kind}] ${titleOf(notification)}`,
    lines: [
      resultOf(notification),
      ...(description === undefined ? [] : [description]),
      ...notesOf(notification, flaps),
    ],
    facts: factsOf(notification, now),
    links: [
      ['Alert', links?.alert],
      ['Calls', links?.calls],
      ['Runbook', runbookUrl],
      ['Silence', isFiring(notification) ? links?.silence : undefined],
    ],
  }
}

function digestContent({ day, timezone, targets }: DigestMessage): Omit<Content, 'links'> {
  return {
    subject: `Calls on ${dayWithWeekday(day)}`,
    parts: targets.map((each) => {
      const split = digestSplit(each.day)
      return { title: each.target, lines: [digestLine(each), ...(split === undefined ? [] : [split])] }
    }),
    notes: [`The day in ${timezone}; in brackets, the change from the same weekday a week before.`],
  }
}

function storeContent(message: StoreMessage): Omit<Content, 'links'> {
  const { title, before, problem, after } = storeText(message)
  const state = message.state === 'failing' ? 'firing' : 'resolved'
  return { subject: `[${state}] ${title}`, parts: [{ title, lines: [`${before}${problem}${after}`] }], notes: [] }
}

function plainBody({ parts, notes, links }: Content): string {
  const blocks = parts.map(({ title, lines, facts = [], links: own = [] }) =>
    [
      onLine(title),
      ...lines.map(readable),
      ...facts.map(([name, value]) => `${name}: ${onLine(value)}`),
      ...shown(own).map(([name, url]) => `${name}: ${url}`),
    ].join('\n'),
  )
  const after = [...notes.map(onLine), ...shown(links).map(([name, url]) => `${name}: ${url}`)].join('\n')
  return `${[...blocks, ...(after === '' ? [] : [after])].join('\n\n')}\n`
}

/** HTML that every mail program can show: no style sheet, no image. */
function htmlBody({ parts, notes, links }: Content): string {
  const body = parts.map(({ title, lines, facts = [], links: own = [] }) => {
    const rows = facts.map(
      ([name, value]) => `<tr><td>${escaped(name)}&nbsp;</td><td>${escaped(onLine(value))}</td></tr>`,
    )
    return [
      `<h3>${escaped(onLine(title))}</h3>`,
      ...lines.map((line) => `<p>${escaped(readable(line)).replaceAll('\n', '<br>')}</p>`),
      ...(rows.length === 0 ? [] : [`<table>${rows.join('')}</table>`]),
      ...anchors(own),
    ].join('\n')
  })
  const small = notes.map((note) => `<p><small>${escaped(onLine(note))}</small></p>`)
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${[...body, ...small, ...anchors(links)].join('\n')}\n</body></html>\n`
}

function anchors(links: readonly Link[]): string[] {
  return shown(links).map(([name, url]) => `<p><a href="${escaped(url)}">${escaped(name)}</a></p>`)
}

/** The links that a browser can open. */
function shown(links: readonly Link[]): [name: string, url: string][] {
  return links.flatMap(([name, url]) =>
    url !== undefined && isLink(url) ? [[onLine(name), new URL(url).href] as [string, string]] : [],
  )
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function onLine(text: string): string {
  return readable(text).replaceAll(/\s+/g, ' ').trim()
}

/** Removes invisible characters and cuts the text to a readable length. */
function readable(text: string): string {
  return plainText(text.slice(0, MAX_TEXT).toWellFormed()).trim()
}
