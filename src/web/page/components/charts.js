import { html } from '../html.js'
import { shownStep } from '../model/chart.js'
import { eventsOf } from '../model/chart-series.js'
import { callsAddress, DEFAULT_SINCE, widerPeriod, zoomAddress } from '../model/charts.js'
import { duration, labelText, moment, span, zone } from '../model/format.js'
import { serverTime } from '../model/server-time.js'
import { changeAddress, goTo } from '../model/views.js'
import { Chart } from './chart.js'
import { Coverage } from './coverage.js'
import { Select } from './fields.js'
import { KindSelects, PeriodInputs } from './filters.js'
import { Section } from './section.js'
import { Table } from './table.js'
import { TargetSelect } from './target-select.js'

/** @import { ShownCharts } from '../model/charts.js' */
/** @import { State } from '../model/state.js' */

const PRESETS = /** @type {const} */ ([
  ['1h', 'the last hour'],
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['35d', 'the last 35 days'],
])
const MINUTES = [
  ['', 'of calls'],
  ['participant', 'of participants'],
]

/**
 * Charts of a period, compared with the same time a week earlier.
 *
 * @param {{ state: State }} props
 */
export function Charts({ state }) {
  const { charts, snapshot } = state
  const { shown } = charts
  const now = snapshot?.status.now ?? ''
  // Times that the reader is changing must not advance.
  const time = Date.parse(shown?.asOf ?? now)
  const query = new URLSearchParams(state.query)
  if (!query.get('since')) query.set('since', DEFAULT_SINCE)
  return html`<${Section} id="charts" title="Charts">
      <form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <${PeriodInputs} query=${query} presets=${PRESETS} time=${time} now=${now} />
        <${TargetSelect} state=${state} />
        <${KindSelects} query=${query} />
        <${Select}
          id="minutes"
          label="Minutes"
          value=${query.get('minutes') ?? ''}
          options=${MINUTES}
          onSelect=${(/** @type {string} */ minutes) => changeAddress({ minutes })}
        />
        ${shown !== undefined && html`<button type="button" onClick=${() => zoomOut(shown)}>Zoom out</button>`}
      </form>
      <div id="charts-note" aria-live="polite">
        ${charts.problem !== undefined && html`<p><strong class="bad">${charts.problem}</strong></p>`}
        ${shown === undefined && charts.problem === undefined && html`<p class="soft">Adding up…</p>`}
      </div>
      ${key()}
    <//>
    ${shown !== undefined && content(state, shown, now)}`
}

/**
 * @param {State} state
 * @param {ShownCharts} shown
 * @param {string} now
 */
function content(state, shown, now) {
  const zoom = (/** @type {number} */ from, /** @type {number} */ to) => goTo(zoomAddress(from, to))
  const open = (/** @type {number} */ from, /** @type {number} */ to) => goTo(callsAddress(state.query, from, to))
  return html`${cursorBar(state, shown, now)}
    ${shown.charts.map(
      (chart) =>
        html`<${Chart}
          key=${chart.id}
          chart=${chart}
          state=${state}
          bands=${shown.bands}
          onZoom=${zoom}
          onOpen=${open}
        />`,
    )}
    <${Section} id="bands" title="Alerts and coverage">
      ${episodes(shown, now)}<${Coverage} coverage=${shown.coverage} now=${now} />
    <//>`
}

/** @param {ShownCharts} shown */
function zoomOut(shown) {
  const [from, to] = widerPeriod(shown, serverTime() / 1000)
  goTo(zoomAddress(from, to))
}

/** What lines and areas mean in all charts. */
function key() {
  return html`<dl class="legend">
    <div>
      <dt>
        <svg class="long" viewBox="0 0 24 10" aria-hidden="true">
          <line class="dots any" x1="0" x2="24" y1="5" y2="5" />
        </svg>
        the same time last week
      </dt>
    </div>
    <div>
      <dt>
        <svg class="long" viewBox="0 0 24 10" aria-hidden="true">
          ${['critical', 'warning', 'info'].map(
            (severity, row) => html`<rect class=${`strip ${severity}`} width="24" height="2.6" y=${row * 3.6} />`,
          )}
        </svg>
        alerts at the top: critical, warning, info
      </dt>
    </div>
    <div>
      <dt>
        <svg class="long" viewBox="0 0 24 10" aria-hidden="true">
          <path class="hatch other" d="M-2 10L8 0M6 10L16 0M14 10L24 0" />
        </svg>
        not covered
      </dt>
    </div>
    <div>
      <dt>
        <svg class="long" viewBox="0 0 24 10" aria-hidden="true">
          <rect class="fill ended" width="24" height="10" />
          <path class="ground" d="M-2 10L8 0M4 10L14 0M10 10L20 0M16 10L26 0" />
        </svg>
        not over yet
      </dt>
    </div>
  </dl>`
}

/**
 * The time at the cursor, what happened then, and its calls.
 *
 * @param {State} state
 * @param {ShownCharts} shown
 * @param {string} now
 */
function cursorBar(state, shown, now) {
  const [chart] = shown.charts
  if (chart === undefined) return undefined
  const { times, step } = chart
  const from = times[shownStep(chart, state)]
  if (from === undefined) return undefined
  const { alerts, unseen } = eventsOf(shown, from, from + step)
  const [since, until] = [from, from + step].map((at) => new Date(at * 1000).toISOString())
  return html`<div id="cursor" class="card">
    <strong>${span(since ?? '', until ?? '', now)}</strong>
    <a href=${callsAddress(state.query, from, from + step)}>Calls of this time</a>
    ${state.charts.isLoading && html`<span class="soft late">Adding up…</span>`}
    ${alerts.map(({ severity, text }) => html`<span class=${severity}>▲ ${text}</span>`)}
    ${unseen.length > 0 && html`<span class="soft">not covered: ${unseen.join(', ')}</span>`}
    <span class="soft hint">Drag over a chart to zoom, click or use the arrow keys to select a time.</span>
  </div>`
}

/**
 * @param {ShownCharts} shown
 * @param {string} now
 */
function episodes({ episodes, isTruncated, asOf }, now) {
  if (episodes.length === 0) return html`<p>No alert fired in this period.</p>`
  return html`<${Table}
      label="Alerts"
      caption="Alerts that fired in this period"
      columns=${['Alert', 'Target', 'Severity', `Since (${zone(now)})`, 'Until', 'How long']}
      isTall
    >
      ${episodes.map(
        ({ alert, target, severity, labels, since, until, key }) =>
          html`<tr key=${[target, alert, key, since].join('|')} class=${severity}>
            <th scope="row">${alert} <span class="soft">${labelText(labels)}</span></th>
            <td>${target}</td>
            <td class=${severity}>${severity}</td>
            <td>${moment(since, now)}</td>
            <td>${until === null ? 'fires' : moment(until, now)}</td>
            <td class="number">${duration((Date.parse(until ?? asOf) - Date.parse(since)) / 1000)}</td>
          </tr>`,
      )}
    <//>
    ${isTruncated && html`<p>There are older ones, which are not shown.</p>`}`
}
