import { useMemo } from 'preact/hooks'
import { goTo } from '../model/address.ts'
import type { AlertHistory } from '../model/api.ts'
import { cursorStep } from '../model/chart.ts'
import { eventsOf, perMinuteChart } from '../model/chart-series.ts'
import { plural, spelledSeconds } from '../../../text/format.ts'
import {
  callsAddress,
  DEFAULT_SINCE,
  PERIODS,
  targetsOf,
  widerPeriod,
  zoomAddress,
  type ShownCharts,
} from '../model/charts.ts'
import { isoOf, someOf, span, zoneName } from '../model/format.ts'
import { staleTargets } from '../model/notices.ts'
import { nowOf, serverTime, type State } from '../model/state.ts'
import { togetherOf } from '../model/alerts/incident-page.ts'
import { EpisodeTable } from './alerts/alerts.tsx'
import { Chart, inLegend } from './chart.tsx'
import { Choice, Filters, kindChoices, PeriodChoice, TargetChoice } from './fields.tsx'
import { Button, coloured, Note, Section, soft } from './layout.tsx'
import { Coverage } from './usage.tsx'

/** Finished calls per minute of the last hour, as a chart and as a table. */
export function FinishedPerMinute({ state }: { state: State }) {
  const { snapshot, target } = state
  const perMinute = snapshot?.perMinute
  const [unpolled] = staleTargets(state)
    .flatMap(({ last_success: last }) => last ?? [])
    .toSorted()
  // The same chart until the numbers change, so that it is not drawn again.
  const chart = useMemo(
    () => perMinute && perMinuteChart(perMinute, target, unpolled),
    [perMinute, target, unpolled, zoneName()],
  )
  return chart && <Chart chart={chart} state={state} />
}

const MINUTES = [
  ['', 'of calls'],
  ['participant', 'of participants'],
] as const

const SPLITS = [
  ['', 'outcome'],
  ['target', 'target'],
  ['app', 'app'],
] as const

/** Charts of a period. */
export function Charts({ state }: { state: State }) {
  const { answer: shown, problem } = state.charts
  const now = nowOf(state)
  const zoom = (from: number, to: number) => goTo(zoomAddress(from, to))
  const zoomOut = () => shown && zoom(...widerPeriod(shown.series, serverTime() / 1000))
  const zoomButton = (
    <Button onClick={zoomOut} disabled={shown === undefined}>
      Zoom out
    </Button>
  )
  return (
    <>
      <Section id="charts" title="Charts" note={zoomButton}>
        <Filters query={state.query}>
          <PeriodChoice state={state} presets={PERIODS} otherwise={DEFAULT_SINCE} asOf={state.charts.asOf} />
          <TargetChoice state={state} />
          {kindChoices(state.query)}
          <Choice name="minutes" label="Minutes" query={state.query} options={MINUTES} />
          {targetsOf(state.query).length > 1 && <Choice name="by" label="By" query={state.query} options={SPLITS} />}
        </Filters>
        <Note id="charts-note" problem={problem} isLoading={shown === undefined} />
        {shown !== undefined && soft(`Each step is ${spelledSeconds(shown.series.step_seconds)}. `)}
        <dl class="legend">{KEY}</dl>
      </Section>
      {shown !== undefined && cursorBar(state, shown, now)}
      {shown?.charts.map((chart) => (
        <Chart key={chart.id} chart={chart} state={state} isOfPeriod onZoom={zoom} />
      ))}
      {shown !== undefined && (
        <Section id="bands" title="Alerts and coverage">
          {episodes(shown.past, state)}
          <Coverage coverage={shown.series.coverage} now={now} />
        </Section>
      )}
    </>
  )
}

/** What hatched bars mean in all charts. */
const KEY = inLegend('still in progress', 24, [
  <rect class="fill" style={coloured('ended')} width="24" height="10" />,
  <path class="ground" d="M-2 10L8 0M4 10L14 0M10 10L20 0M16 10L26 0" />,
])

/** So many alerts are named at the cursor. */
const MOST_ALERTS = 3

/** The time at the cursor, otherwise the whole period, what happened then, and its calls. */
function cursorBar(state: State, shown: ShownCharts, now: string) {
  const [chart] = shown.charts
  if (chart === undefined || chart.times.length === 0) return undefined
  const step = cursorStep(chart, state)
  const from = chart.times[step ?? 0]!
  const to = chart.times[step ?? chart.times.length - 1]! + chart.step
  const { alerts: episodes } = shown.past
  const { alerts, unseen } = eventsOf({ ...shown.series, episodes, asOf: state.charts.asOf }, from, to)
  return (
    <div id="cursor" class="card">
      <strong>{span(isoOf(from), isoOf(to), now)}</strong>
      <a href={callsAddress(state.query, from, to)}>Calls of this time</a>
      {state.charts.isLoading && <span class="soft late">Adding up…</span>}
      {alerts.slice(0, MOST_ALERTS).map(({ severity, text }) => (
        <span class={severity}>{`▲ ${text}`}</span>
      ))}
      {alerts.length > MOST_ALERTS && soft(`and ${plural(alerts.length - MOST_ALERTS, 'more alert')}`)}
      {unseen.length > 0 && soft(`not covered: ${someOf(unseen, 'target')}`)}
      <span class="soft hint">Drag over a chart to zoom, click to select a time.</span>
    </div>
  )
}

function episodes({ alerts, truncated }: AlertHistory, state: State) {
  if (alerts.length === 0) return <p>No alert fired in this period.</p>
  const caption = 'Alerts that fired in this period, newest first'
  return [
    <EpisodeTable caption={caption} episodes={togetherOf(alerts)} state={state} />,
    truncated && <p>There are older ones, which are not shown.</p>,
  ]
}
