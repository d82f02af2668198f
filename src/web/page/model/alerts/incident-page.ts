import { isBeyond } from '../../../../alerts/signal.ts'
import { formatNumber, formatSeconds, plural } from '../../../../text/format.ts'
import { addressOf } from '../address.ts'
import { getPastAlerts, type PastAlert } from '../api.ts'
import { isoOf, momentInZone, named, secondsBetween, valueOf } from '../format.ts'
import { suppressedBy } from './incidents.ts'
import { current, load, nowOf, serverTime, type State } from '../state.ts'

/** Alerts of a rule: the first one of them, and those that began to fire while others did. */
export type Together = readonly PastAlert[]

/** The alerts of each rule that fired at the same time. @param alerts newest first, as the result */
export function togetherOf(alerts: readonly PastAlert[]): Together[] {
  const all: { together: PastAlert[]; until: number }[] = []
  for (const one of alerts.toReversed()) {
    const since = Date.parse(one.since)
    const known = all.find(({ together: [first], until }) => since <= until && first!.alert === one.alert)
    if (known === undefined) all.push({ together: [one], until: endOf(one) })
    else {
      known.together.push(one)
      known.until = Math.max(known.until, endOf(one))
    }
  }
  return all.map(({ together }) => together).toReversed()
}

/** When an alert ended (milliseconds since 1970). */
export const endOf = ({ until }: PastAlert) => (until === null ? Infinity : Date.parse(until))

/** The worst of them. */
export const peakOf = (all: Together) => all.reduce((worst, one) => (isBeyond(one, one.peak, worst.peak) ? one : worst))

/** The address of the page of an incident: the rule, and when one of its alerts fired (ISO 8601). */
export const addressOfIncidentPage = ({ alert }: Pick<PastAlert, 'alert'>, since: string) =>
  addressOf('incident', { alert, since })

/** An incident that began earlier than so long before one of its alerts is not found whole. */
const BEFORE_MS = 86_400_000
const AFTER_MS = 7 * BEFORE_MS

/** Loads the alerts of the incident that the address names; undefined if there is none. */
export function loadIncident() {
  const { query } = current()
  const [alert, since] = [query.get('alert') ?? '', Date.parse(query.get('since') ?? '')]
  const ask = async () => {
    if (alert === '' || Number.isNaN(since)) throw new Error('the address names no incident: it needs alert and since')
    const until = Math.min(serverTime(), since + AFTER_MS)
    const period = { since: isoOf((since - BEFORE_MS) / 1000), until: isoOf(until / 1000) }
    const { alerts } = await getPastAlerts(new URLSearchParams({ alert, ...period }).toString())
    const isMeant = (one: PastAlert) => Math.abs(Date.parse(one.since) - since) < 1000
    return togetherOf(alerts).find((all) => all.some(isMeant)) ?? []
  }
  return load('incidentPage', query.toString(), ask, 'The incident could not be loaded')
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

/** A message that some of the alerts were in, and how many. */
export type Told = { at: string; receiver: string; kind: string; alerts: number }

/** Who was told what when, oldest first. */
export function toldOf(all: Together): Told[] {
  const notices = all.flatMap(({ notified }) => notified)
  const messages = Map.groupBy(notices, ({ receiver, kind, at }) => JSON.stringify([receiver, kind, at]))
  return [...messages.values()]
    .map((same) => ({ ...same[0]!, alerts: same.length }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** What suppressed the alerts, each once with on how many of them. */
export function suppressionsOf(state: State, all: Together) {
  const textOf = suppressedBy(state)
  const texts = all.flatMap(({ suppressed }) =>
    suppressed.map((one) => {
      const { what, more, why } = textOf(one)
      return `${what} ${more}${why}`.trim()
    }),
  )
  return [...Map.groupBy(texts, (text) => text)].map(([text, same]) => ({ text, alerts: same.length }))
}

export const targetsOf = (all: Together) => new Set(all.map(({ target }) => target)).size

/** `HighFailureRate on 41 targets`. */
export function titleOf(all: Together) {
  const size = targetsOf(all)
  return `${all[0]!.alert} on ${size === 1 ? all[0]!.target : plural(size, 'target')}`
}

/** When it fired, how long, and how bad it was. */
export function summaryOf(all: Together, now: string) {
  const [since] = all.map((one) => one.since).toSorted()
  const end = Math.max(...all.map(endOf))
  const until = end === Infinity ? now : new Date(end).toISOString()
  const worst = peakOf(all)
  const most = Math.max(...countsOver(all, Date.parse(now)).map(({ alerts }) => alerts))
  const lasts = end === Infinity ? `still fires after` : `to ${momentInZone(until, now)},`
  return [
    `Fired from ${momentInZone(since!, now)} ${lasts} ${formatSeconds(secondsBetween(since!, until))}.`,
    `Worst: ${valueOf(worst, worst.peak)} on ${worst.target}, threshold ${worst.breach} ${valueOf(worst, worst.threshold)}.`,
    ...(most > 1 ? [`At most ${formatNumber(most)} alerts at the same time.`] : []),
  ]
}

/** As many targets are listed in a postmortem. */
const MOST_LISTED = 50

/** The incident as Markdown, for a postmortem. */
export function postmortem(state: State, all: Together) {
  const now = nowOf(state)
  const at = (iso: string) => momentInZone(iso, now)
  const lines = [
    `## ${titleOf(all)}`,
    '',
    ...summaryOf(all, now).map((line) => `- ${line}`),
    `- Severity: ${all[0]!.severity}`,
    '',
    '### Notified',
    '',
    ...listOr(
      toldOf(all).map(
        ({ receiver, kind, alerts, at: time }) => `- ${at(time)}: ${receiver}, ${kind}, ${plural(alerts, 'alert')}`,
      ),
    ),
    '',
    '### Suppressed',
    '',
    ...listOr(suppressionsOf(state, all).map(({ text, alerts }) => `- ${text} (${plural(alerts, 'alert')})`)),
    '',
    '| Alert | From | Until | Peak | Outcome |',
    '| --- | --- | --- | --- | --- |',
    ...all.slice(0, MOST_LISTED).map((one) => {
      const until = one.until === null ? 'fires' : at(one.until)
      return `| ${named(one)} | ${at(one.since)} | ${until} | ${valueOf(one, one.peak)} | ${one.outcome ?? ''} |`
    }),
    ...(all.length > MOST_LISTED ? [`| and ${plural(all.length - MOST_LISTED, 'more alert')} | | | | |`] : []),
  ]
  return `${lines.join('\n')}\n`
}

const listOr = (lines: readonly string[]) => (lines.length === 0 ? ['- nobody, nothing'] : lines)
