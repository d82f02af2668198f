import { isLink } from '../../../schema/web-address.ts'
import type { AlertMessage, Message, TextOptions } from '../../message.ts'
import { capital } from '../../../text/format.ts'
import { oneLine } from '../../text/bounded.ts'
import { bulletinOf, type Bulletin } from '../../text/bulletin.ts'
import { groupTitle, improvementOf, unroutedText, withWhatFires } from '../../text/group-text.ts'
import { isRecovering } from '../../../alerts/text/incident-text.ts'
import { groupParts, partsOf, type AlertLine, type Link } from '../../text/message-parts.ts'
import { endOf, flappedText } from '../../text/flapped-text.ts'
import { resultOf, titleOf } from '../../../alerts/text/alert-text.ts'
import { reportCsv } from '../../../views/report.ts'
import { firstDayOf } from '../../../views/report-text.ts'
import { MAX_PROBLEM, storeText } from '../../text/store-text.ts'
import { withZone } from '../../text/times.ts'

/**
 * The content from which both forms of the body are made. Its texts are bounded. All mails of an incident have one subject, so that mail
 * programs show them together; the first line says how it is now.
 */
type Content = { subject: string; lead?: string; parts: Section[]; notes?: string[]; links?: Link[] }
/** Without a title, its lines are small print. */
type Section = { title?: string; lines: string[]; facts?: [name: string, value: string][]; links?: Link[] }

/** Characters. Mail programs show fewer in lists. */
const MAX_SUBJECT = 200
const MAX_LEAD = 400

/** A message as an e-mail, with enough to decide without opening anything else: subject, body as plain text and as HTML, and a report as CSV. */
export function emailMessage(message: Message, { now, timezone }: TextOptions & { timezone?: string | undefined }) {
  const { subject, lead, parts, notes = [], links = [] } = contentOf(message, now)
  const zoned = (text: string) => (timezone === undefined ? text : withZone(text, now, timezone))
  const first: Section[] = lead === undefined ? [] : [{ title: oneLine(lead, MAX_LEAD), lines: [] }]
  const all = [...first, ...parts, { lines: notes, links }].map(
    ({ title, lines, facts, links: own }: Section): Section => ({
      ...(title !== undefined && { title: zoned(title) }),
      lines: lines.map(zoned),
      ...(facts && { facts: facts.map(([name, value]): [string, string] => [name, zoned(value)]) }),
      ...(own && { links: own }),
    }),
  )
  return { subject: oneLine(subject, MAX_SUBJECT), text: plainBody(all), html: htmlBody(all), ...attached(message) }
}

function attached(message: Message) {
  if (message.kind !== 'report') return {}
  const { report } = message
  const filename = `callwatch-${firstDayOf(report)}.csv`
  return { attachments: [{ filename, content: reportCsv(report, 'csv'), contentType: 'text/csv; charset=utf-8' }] }
}

function contentOf(message: Message, now: number): Content {
  switch (message.kind) {
    case 'alerts':
      return message.target === undefined ? groupContent(message, now) : targetContent(withWhatFires(message), now)
    case 'report':
      return bulletinContent(bulletinOf(message))
    default: {
      const { title, line } = storeText(message, (problem) => oneLine(problem, MAX_PROBLEM))
      const state = message.state === 'failing' ? 'firing' : 'resolved'
      return { subject: `[${state}] ${title}`, parts: [{ title, lines: [line] }] }
    }
  }
}

function bulletinContent({ title, parts, notes }: Bulletin): Content {
  return {
    subject: title,
    parts: parts.map(({ name, lead, lines }) => ({ title: name, lines: [lead, ...lines] })),
    notes,
  }
}

function groupContent(message: AlertMessage, now: number): Content {
  const { lines, notes, links } = groupParts(message, now)
  const title = groupTitle(message)
  const { severity, incident, alerts } = message
  const isOver = incident === undefined && message.elsewhere.length === 0
  const kind = isOver ? (alerts[0]?.notification.kind ?? 'resolved') : 'firing'
  return {
    subject: subjectOf(message),
    // The title says that it recovers.
    lead: incident !== undefined && isRecovering(incident) ? title : `[${kind}] ${severity} ${title}`,
    parts: [{ lines, links }],
    notes: notes.map(asSentence),
  }
}

function targetContent(message: AlertMessage, now: number): Content {
  const { alerts, lines, more, links, inhibited, silenced, notes } = partsOf(message, now)
  const others = {
    title: alerts.length === 0 ? 'Already over' : 'More',
    lines: [...lines.map(lineText), ...more],
    links: lines.map(({ name, page: url }) => ({ name, url })),
  }
  return {
    subject: subjectOf(message),
    lead: leadOf(message),
    parts: [
      ...alerts.map(({ notification, name, result, facts, description, notes, links }) => ({
        title: `[${notification.kind}] ${name}`,
        lines: [result, ...description, ...notes],
        facts,
        links,
      })),
      ...(lines.length > 0 ? [others] : []),
    ],
    notes: [...inhibited, ...silenced, ...notes.map(asSentence)],
    links,
  }
}

function lineText({ notification, over, name, text }: AlertLine): string {
  return over === undefined ? `[${notification.kind}] ${name}: ${text}` : `[${over}] ${name} ${text}`
}

const asSentence = (note: string) => `${capital(note)}.`

/** `callwatch: HighFailureRate, production`: what the alerts of the group have in common, but for their severity, which may change. */
function subjectOf({ group: { severity: _severity, ...labels } }: AlertMessage): string {
  return `callwatch: ${Object.values(labels).join(', ') || 'alerts'}`
}

/** `[firing] critical HighFailureRate on production: …`. For several alerts, their number and names. */
function leadOf(message: AlertMessage): string {
  if (message.about === 'unrouted') return unroutedText(message)
  const { target, severity, alerts, flapped } = message
  const improvement = flapped.length === 0 ? improvementOf(message) : undefined
  if (improvement !== undefined) return `[firing] ${severity} ${improvement}`
  const all = [
    ...alerts.map(({ notification }) => ({ notification, state: notification.kind, what: resultOf(notification) })),
    ...flapped.map((each) => ({ notification: each.notification, state: endOf(each), what: flappedText(each) })),
  ]
  const first = all[0]!
  if (alerts.length === 1 || all.length === 1)
    return `[${first.state}] ${first.notification.severity} ${titleOf(first.notification)} on ${target}: ${first.what}`
  const kinds = Map.groupBy(all, ({ state }) => state)
  const counts = [...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  const names = all.map(({ notification }) => titleOf(notification)).join(', ')
  return `[${counts}] ${severity} on ${target}: ${names}`
}

function plainBody(sections: readonly Section[]): string {
  const blocks = sections.map(({ title, lines, facts = [], links = [] }) =>
    [title?.trim() ?? [], lines, [...facts, ...shown(links)].map(([name, value]) => `${name}: ${value}`)].flat(),
  )
  const all = blocks.filter(({ length }) => length > 0)
  return `${all.map((block) => block.join('\n')).join('\n\n')}\n`
}

/** HTML that every mail program can show: no style sheet, no image. */
function htmlBody(sections: readonly Section[]): string {
  const body = sections.flatMap(({ title, lines, facts = [], links = [] }) => {
    const texts = lines.map((line) => escaped(line).replaceAll('\n', '<br>'))
    const rows = facts.map(([name, value]) => `<tr><td>${escaped(name)}&nbsp;</td><td>${escaped(value)}</td></tr>`)
    return [
      ...(title === undefined ? [] : [`<h3>${escaped(title)}</h3>`]),
      ...texts.map((text) => (title === undefined ? `<p><small>${text}</small></p>` : `<p>${text}</p>`)),
      ...(rows.length === 0 ? [] : [`<table>${rows.join('')}</table>`]),
      ...shown(links).map(([name, url]) => `<p><a href="${escaped(url)}">${escaped(name)}</a></p>`),
    ]
  })
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${body.join('\n')}\n</body></html>\n`
}

/** The links that a browser can open. */
function shown(links: readonly Link[]): [name: string, url: string][] {
  return links.flatMap(({ name, url }) => (url !== undefined && isLink(url) ? [[name, new URL(url).href]] : []))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
