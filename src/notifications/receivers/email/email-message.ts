import { isLink } from '../../../schema/web-address.ts'
import type { AlertMessage, DigestMessage, FlappedAlert, Message, StoreMessage, TextOptions } from '../../message.ts'
import { oneLine, paragraphs } from '../../text/bounded.ts'
import { dayWithWeekday, digestParts } from '../../text/digest-text.ts'
import { groupLines, groupTitle, runbookOf } from '../../text/group-text.ts'
import { lateNote, partsOf, type AlertLine, type Link } from '../../text/message-parts.ts'
import { flappedText, resultOf, titleOf } from '../../text/notification-text.ts'
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

/** Characters. Mail programs show fewer in lists. */
const MAX_SUBJECT = 200
/** The most that is shown of a configured text (characters). */
const MAX_TEXT = 4000

/** A message as an e-mail, with enough to decide without opening anything else. */
export function emailMessage(message: Message, options: TextOptions): EmailMessage {
  const content = contentOf(message, options)
  return {
    subject: oneLine(content.subject, MAX_SUBJECT),
    text: plainBody(content),
    html: htmlBody(content),
  }
}

function contentOf(message: Message, { now, dashboardUrl }: TextOptions): Content {
  const dashboard = { name: 'Dashboard', url: dashboardUrl }
  switch (message.kind) {
    case 'alerts':
      return alertsContent(message, now, dashboard)
    case 'digest':
      return { ...digestContent(message), links: [dashboard] }
    default:
      return { ...storeContent(message), links: [dashboard] }
  }
}

function alertsContent(message: AlertMessage, now: number, dashboard: Link): Content {
  const subject = subjectOf(message)
  if (message.target === undefined) {
    const links = [
      { name: 'Overview', url: message.links?.overview },
      { name: 'Calls', url: message.links?.calls },
      { name: 'Silence all', url: message.incident && message.links?.silence },
      { name: 'Runbook', url: runbookOf(message) },
    ]
    const part = { title: groupTitle(message), lines: groupLines(message), links }
    return { subject, parts: [part], notes: lateNote(message.alerts, now).map(asSentence), links: [dashboard] }
  }
  const { alerts, lines, more, overview, inhibited, silenced, late } = partsOf(message, now)
  const others = {
    title: alerts.length === 0 ? 'Already over' : 'More',
    lines: [...lines.map(lineText), ...more],
    links: lines.map(({ name, page: url }) => ({ name, url })),
  }
  return {
    subject,
    parts: [
      ...alerts.map(({ notification, name, result, facts, description, notes, links }) => ({
        title: `[${notification.kind}] ${name}`,
        lines: [result, ...(description === '' ? [] : [description]), ...notes],
        facts,
        links,
      })),
      ...(lines.length > 0 ? [others] : []),
    ],
    notes: [...inhibited, ...silenced, ...late.map(asSentence)],
    links: [{ name: 'Overview', url: overview }, dashboard],
  }
}

function lineText({ notification, over, name, text }: AlertLine): string {
  return over === undefined ? `[${notification.kind}] ${name}: ${text}` : `[${over}] ${name} ${text}`
}

function asSentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}.`
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

function digestContent(message: DigestMessage): Omit<Content, 'links'> {
  const { days, more } = digestParts(message)
  return {
    subject: `Calls on ${dayWithWeekday(message.day)}`,
    parts: days.map(({ target, line, split }) => ({ title: target, lines: [line, ...split] })),
    notes: [...more, `The day in ${message.timezone}; in brackets, the change from the same weekday a week before.`],
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
      oneLine(title, MAX_TEXT),
      ...lines.map((line) => paragraphs(line, MAX_TEXT)),
      ...facts.map(([name, value]) => `${name}: ${oneLine(value, MAX_TEXT)}`),
      ...shown(own).map(([name, url]) => `${name}: ${url}`),
    ].join('\n'),
  )
  const after = [
    ...notes.map((note) => oneLine(note, MAX_TEXT)),
    ...shown(links).map(([name, url]) => `${name}: ${url}`),
  ].join('\n')
  return `${[...blocks, ...(after === '' ? [] : [after])].join('\n\n')}\n`
}

/** HTML that every mail program can show: no style sheet, no image. */
function htmlBody({ parts, notes, links }: Content): string {
  const body = parts.map(({ title, lines, facts = [], links: own = [] }) => {
    const rows = facts.map(
      ([name, value]) => `<tr><td>${escaped(name)}&nbsp;</td><td>${escaped(oneLine(value, MAX_TEXT))}</td></tr>`,
    )
    return [
      `<h3>${escaped(oneLine(title, MAX_TEXT))}</h3>`,
      ...lines.map((line) => `<p>${escaped(paragraphs(line, MAX_TEXT)).replaceAll('\n', '<br>')}</p>`),
      ...(rows.length === 0 ? [] : [`<table>${rows.join('')}</table>`]),
      ...anchors(own),
    ].join('\n')
  })
  const small = notes.map((note) => `<p><small>${escaped(oneLine(note, MAX_TEXT))}</small></p>`)
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${[...body, ...small, ...anchors(links)].join('\n')}\n</body></html>\n`
}

function anchors(links: readonly Link[]): string[] {
  return shown(links).map(([name, url]) => `<p><a href="${escaped(url)}">${escaped(name)}</a></p>`)
}

/** The links that a browser can open. */
function shown(links: readonly Link[]): [name: string, url: string][] {
  return links.flatMap(({ name, url }) =>
    url !== undefined && isLink(url) ? [[oneLine(name, MAX_TEXT), new URL(url).href] as [string, string]] : [],
  )
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
