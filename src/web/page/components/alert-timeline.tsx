import { SEVERITIES } from '../../../alerts/match-keys.ts'
import { formatNumber, formatSeconds } from '../../../text/format.ts'
import { addressOfAlert, alertOf } from '../model/alert-page.ts'
import type { Alert, PastAlert } from '../model/api.ts'
import { moment, named, secondsBetween, valueOf, zone } from '../model/format.ts'
import { nowOf, type State } from '../model/state.ts'
import { coloured, Section, soft, Table, type Column } from './layout.tsx'

type Step = readonly [at: string, what: string, tone?: string]

/** What happened when, in order: the breach, who was notified, what was withheld and why, what is more severe, and the end. */
export function AlertTimeline({ state }: { state: State }) {
  const { alert, live } = alertOf(state)
  if (alert === undefined) return false
  const now = nowOf(state)
  const steps = stepsOf(alert, live, state).toSorted(([a], [b]) => Date.parse(a) - Date.parse(b))
  return (
    <Section id="alert-timeline" title="What happened" note={soft(zone(now))}>
      <ol class="plain feed">
        {steps.map(([at, what, tone = 'other']) => (
          <li>
            <time>{moment(at, now)}</time> <span class="dot" style={coloured(tone)} /> <span class="what">{what}</span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function stepsOf(alert: PastAlert, live: Alert | undefined, state: State): Step[] {
  const { signal, breach, threshold, severity, since, until, outcome, expired_because: why, values, peak } = alert
  const [now, isBad] = [nowOf(state), valueOf(signal, threshold)]
  const worst = values.find(({ value }) => value === peak)
  const authorOf = (id: number | undefined) => state.snapshot?.silences.find((one) => one.id === id)?.author
  const rank = (one: PastAlert) => SEVERITIES.indexOf(one.severity)
  const severer = siblingsOf(state, alert).filter(
    (one) => one.target === alert.target && one.signal === signal && rank(one) < rank(alert) && one.since >= since,
  )
  return [
    ...(live === undefined ? [] : [[live.since, `${breach} ${isBad}`] as const]),
    [since, `fired, ${severity}`, severity],
    ...severer.map((one): Step => [
      one.since,
      `escalated: ${named({ ...one, target: '' })}, ${one.severity}`,
      one.severity,
    ]),
    ...(worst === undefined
      ? []
      : [[worst.at, `${breach === 'above' ? 'peak' : 'lowest'} ${valueOf(signal, peak)}`] as const]),
    ...alert.notified.map(({ at, receiver, kind, outcome: sent }): Step =>
      sent === 'sent'
        ? [at, `notified ${receiver}: ${kind}`, 'good']
        : [at, `${kind} to ${receiver}: ${sent}`, 'warning'],
    ),
    ...alert.suppressed.map(({ at, by, until: end, silence, reason, alert: key, target }): Step => {
      const author = authorOf(silence)
      const who =
        by === 'silence' ? `silence ${silence}${author === undefined ? '' : ` by ${author}`}` : by.replace('_', ' ')
      const ends = end === undefined ? '' : ` until ${moment(end, now)}`
      const about = reason ?? [key, target].filter(Boolean).join(', ')
      return [at, `withheld, ${who}${ends}${about === '' ? '' : `: ${about}`}`, 'warning']
    }),
    ...alert.blind.map((one): Step => [
      one.since,
      `not seen for ${formatSeconds(secondsBetween(one.since, one.until))}`,
    ]),
    ...(until === null
      ? []
      : [
          [
            until,
            why === undefined ? (outcome ?? '') : `expired: ${why}`,
            outcome === 'resolved' ? 'good' : 'other',
          ] as const,
        ]),
  ]
}

/** Alerts of the last seven days on the same target, or of the same rule, that fired at the same time. */
function siblingsOf({ pastAlerts }: State, alert: PastAlert): PastAlert[] {
  const end = ({ until }: PastAlert) => (until === null ? Infinity : Date.parse(until))
  return pastAlerts
    .filter((one) => named(one) !== named(alert) && (one.target === alert.target || one.alert === alert.alert))
    .filter((one) => Date.parse(one.since) <= end(alert) && end(one) >= Date.parse(alert.since))
    .toSorted((a, b) => Number(b.target === alert.target) - Number(a.target === alert.target))
}

/** As many siblings are listed. */
const MOST = 8

/** What else fired at the same time, its own target first; absent without any. */
export function AlertSiblings({ state }: { state: State }) {
  const { alert } = alertOf(state)
  const siblings = alert === undefined ? [] : siblingsOf(state, alert)
  if (siblings.length === 0) return false
  const now = nowOf(state)
  const columns: Column<PastAlert>[] = [
    [
      'Alert',
      (one) => [<a href={addressOfAlert(one, one.since)}>{one.alert}</a>, ' ', soft(named({ ...one, alert: '' }))],
    ],
    [`Since (${zone(now)})`, ({ since }) => moment(since, now), 'number'],
    ['Peak', ({ signal, peak }) => valueOf(signal, peak), 'number'],
  ]
  const more = siblings.length - MOST
  return (
    <Section id="alert-siblings" title="At the same time" note={more > 0 && soft(`${formatNumber(more)} more`)}>
      <Table caption="Alerts that fired at the same time" columns={columns} items={siblings.slice(0, MOST)} />
    </Section>
  )
}
