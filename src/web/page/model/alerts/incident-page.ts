import { RULE_LABELS } from '../../../../alerts/groups.ts'
import { bySeverity } from '../../../../alerts/match-keys.ts'
import { isBeyond } from '../../../../alerts/signal.ts'
import { formatNumber, formatSeconds, plural } from '../../../../text/format.ts'
import { addressOf } from '../address.ts'
import { getPastAlerts, type PastAlert } from '../api.ts'
import { isoOf, local, named, secondsBetween, valueOf, zone } from '../format.ts'
import { current, load, nowOf, type State } from '../state.ts'
import { suppressedBy } from './incidents.ts'

/** Alerts of one kind: the first one of them, and those that began to fire while others did. */
export type Together = readonly PastAlert[]

/** The alerts of each kind that fired at the same time. @param alerts newest first, as the result @param kindOf default: the rule */
export function togetherOf(
  alerts: readonly PastAlert[],
  kindOf: (alert: PastAlert) => string = ({ alert }) => alert,
): Together[] {
  const all: { kind: string; together: PastAlert[]; until: number }[] = []
  for (const one of alerts.toReversed()) {
    const [since, kind] = [Date.parse(one.since), kindOf(one)]
    const known = all.find((each) => since <= each.until && each.kind === kind)
    if (known === undefined) all.push({ kind, together: [one], until: endOf(one) })
    else {
      known.together.push(one)
      known.until = Math.max(known.until, endOf(one))
    }
  }
  return all.map(({ together }) => together).toReversed()
}

/** What an alert measures, whatever its rule's threshold, window and severity are: rules that escalate have the same. */
const subjectOf = ({ signal, reason, breach, match, labels, ...one }: PastAlert) =>
  JSON.stringify([
    [signal, reason, breach, one.status, one.media, one.of],
    [one.longer_than_seconds, one.shorter_than_seconds, one.relative_to_seconds],
    RULE_LABELS.map((name) => labels[name] ?? match[name]),
  ])

/** When an alert ended (milliseconds since 1970). */
export const endOf = ({ until }: PastAlert) => (until === null ? Infinity : Date.parse(until))

/** The worst of them. */
export const peakOf = (all: Together) => all.reduce((worst, one) => (isBeyond(one, one.peak, worst.peak) ? one : worst))

/** The address of the page of an incident: the rule, and a time within it (ISO 8601). */
export const addressOfIncidentPage = ({ alert }: Pick<PastAlert, 'alert'>, since: string) =>
  addressOf('incident', { alert, since })

export type IncidentPage = {
  /** Oldest first; none if no alert of this rule fired then. */
  alerts: Together
  /** Whether there may be more of them, before or after, which are not loaded. */
  isCut: boolean
}

const REFRESH_MS = 30_000
let loadedAt = -Infinity
const DAY_MS = 86_400_000
/** How long before and after the time of the address alerts are looked for: less where these are too many for an answer. */
const AROUND_MS = [7 * DAY_MS, DAY_MS, DAY_MS / 8, DAY_MS / 96]

/** Whether a time is within an incident: commands print the second in which an alert fired (milliseconds since 1970). */
const lastedAt = (all: Together, at: number) =>
  Math.floor(Date.parse(all[0]!.since) / 1000) <= at / 1000 && at <= Math.max(...all.map(endOf))

/** Loads the incident that the address names: the one with this rule that lasted at this time, of several the one of which an alert of the rule began then. */
export function loadIncident() {
  loadedAt = performance.now()
  const { query } = current()
  const [alert, since] = [query.get('alert') ?? '', Date.parse(query.get('since') ?? '')]
  const ask = async (): Promise<IncidentPage> => {
    if (alert === '' || Number.isNaN(since)) throw new Error('the address names no incident: it needs alert and since')
    for (const [i, around] of AROUND_MS.entries()) {
      const period = { since: isoOf((since - Math.min(around, DAY_MS)) / 1000), until: isoOf((since + around) / 1000) }
      const { alerts, truncated = false } = await getPastAlerts(new URLSearchParams(period).toString())
      if (truncated && i < AROUND_MS.length - 1) continue
      const isNamed = (one: PastAlert) => one.alert === alert
      const isMeant = (one: PastAlert) => isNamed(one) && Math.abs(Date.parse(one.since) - since) < 1000
      const lasted = togetherOf(alerts, subjectOf).filter((all) => all.some(isNamed) && lastedAt(all, since))
      const found = lasted.find((all) => all.some(isMeant)) ?? lasted[0] ?? []
      return { alerts: found, isCut: truncated || i > 0 }
    }
    return { alerts: [], isCut: true }
  }
  return load('incidentPage', query.toString(), ask, 'The incident could not be loaded')
}

/** Loads it again while it lasts and is visible. @param at by `performance.now()` */
export function refreshIncident(at: number) {
  const { view, incidentPage } = current()
  const lasts = incidentPage.answer?.alerts.some(({ until }) => until === null) === true
  if (view === 'incident' && lasts && !document.hidden && at - loadedAt >= REFRESH_MS) void loadIncident()
}

/** How many of the alerts fired in each step from the first beginning to the last end, or now (milliseconds since 1970). */
export function countsOver(all: Together, now: number, steps = 60) {
  const begins = all.map(({ since }) => Date.parse(since))
  const [from, to] = [Math.min(...begins), Math.min(now, Math.max(...all.map(endOf)))]
  const step = Math.max(1, (to - from) / steps)
  return Array.from({ length: steps }, (_, i) => {
    const [begin, end] = [from + i * step, from + (i + 1) * step]
    return { at: begin, alerts: all.filter((one, k) => begins[k]! < end && endOf(one) > begin).length }
  })
}

/** How many of the alerts fired at the same time, at most. */
export function mostAtOnce(all: Together) {
  const changes = all.flatMap((one) => [
    { at: Date.parse(one.since), by: 1 },
    { at: endOf(one), by: -1 },
  ])
  // What ends as another one begins did not fire beside it.
  const inOrder = changes.toSorted((a, b) => (a.at === b.at ? a.by - b.by : a.at < b.at ? -1 : 1))
  let [count, most] = [0, 0]
  for (const { by } of inOrder) most = Math.max(most, (count += by))
  return most
}

/** A message that some of the alerts were in, and how many. */
export type SentMessage = { at: string; receiver: string; kind: string; alerts: number }

/** The messages that were in the history of its alerts, oldest first. */
export function messagesOf(all: Together): SentMessage[] {
  const notices = all.flatMap(({ notified }) => notified)
  const messages = Map.groupBy(notices, ({ receiver, kind, at }) => JSON.stringify([receiver, kind, at]))
  return [...messages.values()]
    .map((same) => ({ ...same[0]!, alerts: same.length }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** What suppressed the alerts, each once with on how many of them. */
export function suppressionsOf(state: State, all: Together) {
  const textOf = suppressedBy(state)
  const texts = all.flatMap(({ suppressed }) => [
    ...new Set(
      suppressed.map((one) => {
        const { what, more, why } = textOf(one)
        return `${what} ${more}${why}`.trim()
      }),
    ),
  ])
  return [...Map.groupBy(texts, (text) => text)].map(([text, same]) => ({ text, alerts: same.length }))
}

/** `VeryHighFailureRate, HighFailureRate on 41 targets`. */
export function titleOf(all: Together) {
  const targets = [...new Set(all.map(({ target }) => target))]
  const rules = [...new Set(all.toSorted(bySeverity).map(({ alert }) => alert))].join(', ')
  return `${rules} on ${targets.length === 1 ? targets[0] : plural(targets.length, 'target')}`
}

/** `2026-11-20 14:02:11 GMT+1`: a text is read later. */
const dated = (iso: string) => `${local(iso).slice(0, 19).replace('T', ' ')} ${zone(iso)}`

/** When it fired, how long, and how bad it was. @param now ISO 8601 */
export function summaryOf(all: Together, now: string) {
  const [since] = all.map((one) => one.since).toSorted()
  const end = Math.max(...all.map(endOf))
  const until = end === Infinity ? now : new Date(end).toISOString()
  const worst = peakOf(all)
  const most = mostAtOnce(all)
  const lasted = formatSeconds(secondsBetween(since!, until))
  return [
    end === Infinity
      ? `Fires since ${dated(since!)}, ${lasted} so far.`
      : `Fired from ${dated(since!)} to ${dated(until)}, ${lasted}.`,
    `Worst: ${valueOf(worst, worst.peak)} on ${worst.target}, threshold ${worst.breach} ${valueOf(worst, worst.threshold)}.`,
    ...(most > 1 ? [`At most ${formatNumber(most)} alerts at the same time.`] : []),
  ]
}

/** As many alerts are listed in a postmortem. */
const MOST_LISTED = 50

/** The incident as Markdown, for a postmortem. */
export function postmortem(state: State, all: Together) {
  const lines = [
    `## ${titleOf(all)}`,
    '',
    ...summaryOf(all, nowOf(state)).map((line) => `- ${line}`),
    `- Severity: ${all.toSorted(bySeverity)[0]!.severity}`,
    '',
    '### Notified',
    '',
    ...listOr('nobody', messagesOf(all), ({ receiver, kind, alerts, at }) => {
      return `${dated(at)}: ${receiver}, ${kind}, ${plural(alerts, 'alert')}`
    }),
    '',
    '### Suppressed',
    '',
    ...listOr('nothing', suppressionsOf(state, all), ({ text, alerts }) => `${text} (${plural(alerts, 'alert')})`),
    '',
    '| Alert | From | Until | Peak | Outcome |',
    '| --- | --- | --- | --- | --- |',
    ...worstFirst(all)
      .slice(0, MOST_LISTED)
      .map((one) => {
        const until = one.until === null ? 'fires' : dated(one.until)
        const cells = [named(one), dated(one.since), until, valueOf(one, one.peak), one.outcome ?? '']
        return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
      }),
    ...(all.length > MOST_LISTED ? [`| and ${plural(all.length - MOST_LISTED, 'more alert')} | | | | |`] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** Those of several rules by severity, of one by their peaks. */
export const worstFirst = (all: Together) =>
  all.toSorted((a, b) => bySeverity(a, b) || (a.peak === b.peak ? 0 : isBeyond(a, a.peak, b.peak) ? -1 : 1))

const listOr = <Item>(none: string, items: readonly Item[], textOf: (item: Item) => string) =>
  items.length === 0 ? [`- ${none}`] : items.map((item) => `- ${textOf(item)}`)
