import { Component } from '../vendor/preact.js'
import { html } from '../html.js'
import { cursorStep, moveCursor, movedStep, shownStep, valueText } from '../model/chart.js'
import { moment, span, zone } from '../model/format.js'
import { current } from '../model/state.js'
import { Plot } from './plot.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { Bands, Chart as Shown, Series } from '../model/chart.js' */
/** @import { State } from '../model/state.js' */

/**
 * A chart with its legend, which has the values at the cursor, and with a table of the same numbers.
 *
 * @param {object} props
 * @param {Shown} props.chart
 * @param {State} props.state
 * @param {Bands} [props.bands]
 * @param {(from: number, to: number) => unknown} [props.onZoom] called with the steps over which the reader draws (UNIX seconds)
 * @param {(at: number, to: number) => unknown} [props.onOpen] called with the step that the reader opens by keyboard
 */
export function Chart({ chart, state, bands, onZoom, onOpen }) {
  const { id, title, about, times, step, complete, series, thresholds = [] } = chart
  const now = state.snapshot?.status.now ?? ''
  const index = shownStep(chart, state)
  const at = times[index]
  const time = at === undefined ? '' : `${stepText(chart, index, now)}${index >= complete ? ', so far' : ''}`
  const texts = series.map(({ name, values }) => `${name} ${valueText(chart, values[index])}`)
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    // Keys may be faster than frames.
    const before = shownStep(chart, current())
    const [moved, opened] = [movedStep(event.key, before, times.length), times[before]]
    if (moved !== undefined) moveCursor({ hovered: undefined, selected: times[moved] })
    else if (event.key === 'Escape') moveCursor({ hovered: undefined, selected: undefined })
    else if (event.key === 'Enter' && onOpen !== undefined && opened !== undefined) onOpen(opened, opened + step)
    else return
    event.preventDefault()
  }
  return html`<${Section} id=${id} title=${title} note=${html`<span class="soft">${time}</span>`}>
    <dl class="legend">
      ${series.map(
        (one, i) =>
          html`<div key=${one.name}>
            <dt>${swatch(one)}${one.name}</dt>
            <dd>${valueText(chart, series[i]?.values[index])}</dd>
          </div>`,
      )}
      ${thresholds.map(
        ({ name, about, value, severity }) =>
          html`<div key=${name} data-threshold=${name}>
            <dt>${swatch({ colour: severity, shape: 'line' })}${name}</dt>
            <dd>${about} ${valueText(chart, value)}</dd>
          </div>`,
      )}
    </dl>
    <div
      class="drawing"
      role="slider"
      tabindex="0"
      aria-label=${about}
      aria-valuemin="0"
      aria-valuemax=${Math.max(0, times.length - 1)}
      aria-valuenow=${index}
      aria-valuetext=${`${time}: ${texts.join(', ')}`}
      onKeyDown=${onKeyDown}
    >
      <${Plot} chart=${chart} bands=${bands} cursor=${cursorStep(chart, state)} onZoom=${onZoom} />
    </div>
    <details>
      <summary>The chart as a table</summary>
      <${ChartTable} chart=${chart} now=${now} />
    </details>
  <//>`
}

/**
 * The numbers of a chart. They are rendered again when they change, and not when the cursor moves.
 *
 * @extends {Component<{ chart: Shown, now: string }, {}>}
 */
class ChartTable extends Component {
  /**
   * @override
   * @param {{ chart: Shown }} next
   */
  shouldComponentUpdate(next) {
    return next.chart !== this.props.chart
  }

  /** @override */
  render() {
    const { chart, now } = this.props
    const { title, times, complete, series } = chart
    const row = (/** @type {number} */ at, /** @type {number} */ i) =>
      html`<tr key=${at}>
        <th scope="row">${begin(at, now)}${i >= complete && html`<span class="soft"> so far</span>`}</th>
        ${series.map(({ values }) => html`<td>${valueText(chart, values[i])}</td>`)}
      </tr>`
    return html`<${Table}
      label=${title}
      caption=${`${title}, newest first`}
      columns=${[`From (${zone(now)})`, ...series.map(({ name }) => name)]}
      isNumeric
      isTall
    >
      ${times.map(row).toReversed()}
    <//>`
  }
}

/** @param {Pick<Series, 'colour' | 'shape'>} series */
function swatch({ colour, shape }) {
  return shape === 'bar'
    ? html`<svg viewBox="0 0 10 10" aria-hidden="true"><rect class=${`fill ${colour}`} width="10" height="10" /></svg>`
    : html`<svg class="long" viewBox="0 0 24 10" aria-hidden="true">
        <line class=${`${shape} ${colour}`} x1="0" x2="24" y1="5" y2="5" />
      </svg>`
}

/**
 * @param {Shown} chart
 * @param {number} index
 * @param {string} now
 */
function stepText({ times, step, isInstant = false }, index, now) {
  const at = (times[index] ?? 0) * 1000
  // A minute has the name of its beginning.
  const end = isInstant || step === 60 ? at : at + step * 1000
  return span(new Date(at).toISOString(), new Date(end).toISOString(), now)
}

/**
 * @param {number} at UNIX seconds
 * @param {string} now
 */
const begin = (at, now) => moment(new Date(at * 1000).toISOString(), now).replace(/:00(?= |$)/, '')
