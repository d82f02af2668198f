import { runbookOf } from '../../../../alerts/runbook.ts'
import { formatNumber } from '../../../../text/format.ts'
import { addressOf, addressOfCalls } from '../../model/address.ts'
import { alertOf, failedOf, NO_CALLS } from '../../model/alerts/alert-page.ts'
import type { Alert } from '../../model/api.ts'
import { incidentPeriod } from '../../model/charts.ts'
import { momentInZone } from '../../model/format.ts'
import { reasonOf } from '../../model/alerts/incidents.ts'
import { editAddress } from '../../model/silences.ts'
import { nowOf, serverTime, type State } from '../../model/state.ts'
import { countOf, sum } from '../../model/totals.ts'
import { Section, soft } from '../layout.tsx'

type Step = readonly [href: string, what: string, about: string]

/** What can be done about an alert, as links that depend on it, but for what its buttons do alone; absent without an alert. */
export function AlertNext({ state }: { state: State }) {
  const { alert, live } = alertOf(state)
  const shown = alert ?? live
  if (shown === undefined) return false
  const { target, signal, labels, calls_url: url } = shown
  const charts = { target, ...alert?.match, ...labels, since: incidentPeriod([shown], serverTime()) }
  const runbook = runbookOf({ name: shown.alert, runbookUrl: shown.runbook_url }, 'runbooks')
  const steps: (Step | false)[] = [
    url !== undefined && callsStep(state, url),
    live !== undefined && [addressOf('charts', charts), 'See its charts', 'before and after'],
    signal === 'budget_minutes' && [addressOf('usage', { target, by: 'day' }), 'See the usage of this month', 'by day'],
    [addressOf('overview', { target }), `Open ${target}`, reasonOf(state, shown) || 'its polls, alerts and calls now'],
    runbook !== undefined && [runbook, 'Follow the runbook', 'what it means, and what helps'],
    live !== undefined && silenceStep(state, live),
  ]
  return (
    <Section id="alert-next" title="What to do next">
      <ul class="plain feed">
        {steps
          .filter((step) => step !== false)
          .map(([href, what, about]) => (
            <li>
              <a href={href}>
                <b class="info">{what}</b> {soft(about)}
              </a>
            </li>
          ))}
      </ul>
    </Section>
  )
}

/** The failed calls of the kind that has most failures, which may be fewer than half of them. */
function callsStep({ alertPage }: State, url: string): Step | false {
  const { alert, breakdown } = alertPage.answer ?? {}
  const failed = failedOf(alert ?? {})
  const { now: kinds } = breakdown ?? NO_CALLS
  const [worst] = kinds.toSorted((a, b) => failed(b) - failed(a))
  if (alert?.signal !== 'failure_ratio' || worst === undefined || failed(worst) === 0) return false
  const { type = '', mode = '', receiver_type = '' } = worst
  const ofCalls = `${formatNumber(failed(worst))} of ${formatNumber(countOf(worst))}`
  const address = addressOfCalls(`${url}&${new URLSearchParams({ type, mode, receiver_type })}`)
  const part = failed(worst) > sum(kinds, failed) / 2 ? 'most' : 'the largest group'
  return [address, `See ${part} of its failed calls`, `${type} ${mode} ${receiver_type}: ${ofCalls} failed`]
}

function silenceStep(state: State, { silences = [] }: Alert): Step | false {
  const silence = state.snapshot?.silences.find(({ id }) => silences.includes(id))
  if (silence === undefined) return false
  return [editAddress(silence), 'Change its silence', `it ends at ${momentInZone(silence.until, nowOf(state))}`]
}
