import { isMoreSevere } from '../../../../alerts/match-keys.ts'
import { formatSeconds } from '../../../../text/format.ts'
import { alertOf, failingFor } from '../../model/alerts/alert-page.ts'
import type { PastAlert } from '../../model/api.ts'
import { moment, named, secondsBetween, valueOf, zone } from '../../model/format.ts'
import { suppressedBy } from '../../model/alerts/incidents.ts'
import { failureText } from '../../model/notices.ts'
import { nowOf, type State } from '../../model/state.ts'
import { endOf, togetherOf } from '../../model/alerts/incident-page.ts'
import { EpisodeTable } from './alerts.tsx'
import { coloured, Section, soft } from '../layout.tsx'

type Step = readonly [at: string, what: string, more: string, tone?: string]

/** What happened when, in order: the breach, who was notified, what was withheld and why, what is more severe, and the end. */
export function AlertTimeline({ state }: { state: State }) {
  const { alert, live } = alertOf(state)
  const now = nowOf(state)
  const began = live?.began
  const steps: (Step | false)[] = [
    began !== undefined && began !== live?.since && [began, 'last successful poll', ''],
    live !== undefined && [live.since, 'pending', `: the value is ${live.breach} ${valueOf(live, live.threshold)}`],
    ...suppressedSteps(state),
    ...(alert === undefined ? [] : stepsOf(alert, state)),
  ]
  const shown = steps.filter((step) => step !== false).toSorted(([a], [b]) => Date.parse(a) - Date.parse(b))
  if (shown.length === 0) return false
  return (
    <Section id="alert-timeline" title="What happened" note={soft(zone(now))}>
      <ol class="plain feed">
        {shown.map(([at, what, more, tone = 'other']) => (
          <li>
            <time>{moment(at, now)}</time> <span class="dot" style={coloured(tone)} />
            <span class="what">
              <b>{what}</b>
              {more}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** What has withheld a message, and the silences that silence the alert now. */
function suppressedSteps(state: State): Step[] {
  const { alert, live } = alertOf(state)
  const noted = alert?.suppressed ?? []
  const isNew = (one: { by: string; silence?: number | undefined }) =>
    !noted.some(({ by, silence }) => by === one.by && silence === one.silence)
  return [...noted, ...(live?.suppressed ?? []).filter(isNew)].flatMap((one): Step[] => {
    const { at, what, more, why } = suppressedBy(state)(one)
    return at === undefined ? [] : [[at, what, ` ${more}${why}`, 'warning']]
  })
}

/** What is said of a message of each kind. */
const NOTICES = { firing: '', reminder: ' again', resolved: ': resolved', expired: ': expired' }

function stepsOf(alert: PastAlert, state: State): (Step | false)[] {
  const { signal, breach, severity, since, until, outcome, expired_because: why, values } = alert
  const { peak } = alertOf(state).live ?? alert
  const worst = values.find(({ value }) => value === peak)
  const severer = siblingsOf(state, alert).filter(
    (one) => one.target === alert.target && one.signal === signal && isMoreSevere(one, alert) && one.since >= since,
  )
  return [
    [since, 'fired', `, ${severity}`, severity],
    ...severer.map((one): Step => {
      return [one.since, 'escalated', `: ${named({ ...one, target: '' })}, ${one.severity}`, one.severity]
    }),
    worst !== undefined && [worst.at, breach === 'above' ? 'peak' : 'lowest', ` ${valueOf(alert, peak)}`],
    ...alert.notified.map(({ at, receiver, kind }): Step => [at, 'notified', ` ${receiver}${NOTICES[kind]}`, 'good']),
    ...alert.refused.map(({ at, receiver, problem }): Step => [at, 'not notified', ` ${receiver}: ${problem}`, 'bad']),
    ...failingFor(state, alert).map((one): Step => {
      const { name, failing_since: failing = since } = one
      return [failing < since ? since : failing, name, ` ${failureText(one, nowOf(state))}`, 'bad']
    }),
    ...alert.blind.map((one): Step => {
      return [one.since, 'not seen', ` for ${formatSeconds(secondsBetween(one.since, one.until))}`]
    }),
    until !== null && [until, outcome ?? '', why ? `: ${why}` : '', outcome === 'resolved' ? 'good' : 'other'],
  ]
}

/** Alerts of the last seven days on the same target, or of the same rule, that fired at the same time, newest first. */
function siblingsOf({ pastAlerts = [] }: State, alert: PastAlert): PastAlert[] {
  return pastAlerts
    .filter((one) => named(one) !== named(alert) && (one.target === alert.target || one.alert === alert.alert))
    .filter((one) => Date.parse(one.since) <= endOf(alert) && endOf(one) >= Date.parse(alert.since))
}

/** What else fired at the same time; absent without any. */
export function AlertSiblings({ state }: { state: State }) {
  const { alert } = alertOf(state)
  const siblings = alert === undefined ? [] : togetherOf(siblingsOf(state, alert))
  return (
    siblings.length > 0 && (
      <Section id="alert-siblings" title="At the same time">
        <EpisodeTable caption="Alerts that fired at the same time" episodes={siblings} state={state} isShort />
      </Section>
    )
  )
}
