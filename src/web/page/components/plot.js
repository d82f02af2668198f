import { Component } from '../vendor/preact.js'
import uPlot from '../vendor/uplot.js'
import { html } from '../html.js'
import { drawnData, moveCursor, UNITS } from '../model/chart.js'
import { zoneName } from '../model/format.js'
import { drawBands, drawIncomplete, drawThresholds } from './plot-marks.js'

/** @import { Bands, Chart } from '../model/chart.js' */
/**
 * @typedef {object} Props
 * @property {Chart} chart
 * @property {Bands} [bands]
 * @property {number} [cursor] The step at the cursor
 * @property {(from: number, to: number) => unknown} [onZoom]
 */

const DARK = matchMedia('(prefers-color-scheme: dark)')
const LINES = { line: { width: 2 }, thin: { width: 1.25 }, dots: { width: 1.5, dash: [2, 4] } }
/** CSS pixels. */
const MIN_BRUSH = 4
/** Formats of the times of an axis by the distance of its ticks (seconds); the date is below the first one of a day. */
const TIMES = [
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
]

/**
 * The drawing of a chart. uPlot draws into an element that Preact does not change.
 *
 * @extends {Component<Props, {}>}
 */
export class Plot extends Component {
  /** @type {uPlot | undefined} */
  plot = undefined
  place = /** @type {HTMLElement | null} */ (null)
  drawn = ''
  sizes = new ResizeObserver(() => this.plot?.setSize(this.size()))
  draw = () => this.redraw()

  /**
   * @override
   * @param {Props} next
   */
  shouldComponentUpdate({ chart, bands, cursor }) {
    const { props } = this
    return chart !== props.chart || bands !== props.bands || cursor !== props.cursor
  }

  /** @override */
  componentDidMount() {
    this.redraw()
    if (this.place !== null) this.sizes.observe(this.place)
    DARK.addEventListener('change', this.draw)
  }

  /**
   * @override
   * @param {Props} before
   */
  componentDidUpdate({ chart, bands }) {
    if (this.drawn !== formOf(this.props.chart)) this.redraw()
    else if (chart !== this.props.chart || bands !== this.props.bands) this.plot?.setData(drawnData(this.props.chart))
    this.showCursor()
  }

  /** @override */
  componentWillUnmount() {
    DARK.removeEventListener('change', this.draw)
    this.sizes.disconnect()
    this.plot?.destroy()
  }

  /** @override */
  render() {
    return html`<div class="chart" ref=${(/** @type {HTMLElement | null} */ place) => (this.place = place)}></div>`
  }

  size() {
    return { width: this.place?.clientWidth ?? 0, height: this.place?.clientHeight ?? 0 }
  }

  redraw() {
    this.plot?.destroy()
    if (this.place === null) return
    const { chart } = this.props
    this.drawn = formOf(chart)
    this.plot = new uPlot({ ...options(this, this.place), ...this.size() }, drawnData(chart), this.place)
    this.showCursor()
  }

  /** Shows the cursor that all charts share. The chart below the pointer has it already. */
  showCursor() {
    const { plot } = this
    const { cursor } = this.props
    if (plot === undefined || (plot.cursor.idx ?? undefined) === cursor) return
    const at = cursor === undefined ? undefined : plot.data[0][cursor]
    const left = at === undefined ? -10 : plot.valToPos(at, 'x')
    plot.setCursor({ left, top: at === undefined ? -10 : 0 }, false)
  }
}

/**
 * What the options of a plot depend on. A plot with other ones is a new plot.
 *
 * @param {Chart} chart
 */
const formOf = ({ id, unit, series }) =>
  [zoneName(), id, unit, ...series.map(({ name, shape, colour }) => `${name} ${shape} ${colour}`)].join('|')

/**
 * @param {Plot} component
 * @param {HTMLElement} place has the colours of the chart in its style
 * @returns {Omit<uPlot.Options, 'width' | 'height'>}
 */
function options(component, place) {
  const style = getComputedStyle(place)
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`)
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  const { chart, onZoom } = component.props
  const { onAxis, least, incrs } = UNITS[chart.unit]
  const bars = chart.series.filter(({ shape }) => shape === 'bar').toReversed()
  const lines = chart.series.filter(({ shape }) => shape !== 'bar')
  const isFilled = bars.length === 0 && lines.filter(({ shape }) => shape !== 'dots').length === 1
  return {
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: bars.length === 0 },
      drag: { x: onZoom !== undefined, y: false, setScale: false, dist: MIN_BRUSH },
    },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), zoneName()),
    scales: {
      x: { time: true, range: () => rangeOf(component.props.chart) },
      y: {
        range: (_plot, _min, max) => {
          const thresholds = component.props.chart.thresholds?.map(({ value }) => value) ?? []
          return [0, Math.max(least, ...thresholds, max ?? 0) * 1.12]
        },
      },
    },
    axes: [
      { ...axis, values: TIMES, grid: { show: false } },
      { ...axis, size: 60, incrs, values: (_plot, splits) => splits.map(onAxis) },
    ],
    series: [
      {},
      ...bars.map((one) => ({
        fill: colour(one.colour),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.85, Infinity] }) }),
      })),
      ...lines.map(({ colour: name, shape }) => ({
        stroke: colour(name),
        ...LINES[shape === 'bar' ? 'line' : shape],
        ...(isFilled && shape === 'line' && { fill: `${colour(name)}1f` }),
        spanGaps: chart.isInstant === true,
        points: { size: 5, fill: colour(name), filter: alone },
      })),
    ],
    hooks: {
      drawAxes: [(plot) => drawBands(plot, component.props.bands, colour)],
      draw: [
        (plot) => drawIncomplete(plot, component.props.chart, colour('card')),
        (plot) => drawThresholds(plot, component.props.chart, colour),
      ],
      setCursor: [({ cursor: { idx } }) => moveCursor({ hovered: timeAt(component, idx) })],
      setSelect: [(plot) => zoom(plot, component)],
      ready: [
        ({ over, cursor }) =>
          over.addEventListener('click', () => moveCursor({ selected: timeAt(component, cursor.idx) })),
      ],
    },
  }
}

/** @param {Chart} chart @returns {[number, number]} */
const rangeOf = ({ times, step }) => [times[0] ?? 0, (times.at(-1) ?? 0) + step]

/**
 * @param {Plot} component
 * @param {number | null | undefined} index
 */
const timeAt = ({ props: { chart } }, index) => (index === null || index === undefined ? undefined : chart.times[index])

/**
 * The points without a line to another one.
 *
 * @param {uPlot} plot
 * @param {number} index of the series
 */
function alone({ data, series }, index) {
  if (series[index]?.spanGaps === true) return []
  const values = data[index] ?? []
  return Array.from(values, (_, i) => i).filter(
    (i) => values[i] != null && values[i - 1] == null && values[i + 1] == null,
  )
}

/**
 * Zooms to the steps over which the reader has drawn.
 *
 * @param {uPlot} plot
 * @param {Plot} component
 */
function zoom(plot, { props: { chart, onZoom } }) {
  const { left, width } = plot.select
  if (width === 0 || onZoom === undefined) return
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  const [first] = rangeOf(chart)
  const steps = (/** @type {number} */ position) => (plot.posToVal(position, 'x') - first) / chart.step
  const from = Math.max(0, Math.floor(steps(left)))
  const to = Math.min(chart.times.length, Math.ceil(steps(left + width)))
  onZoom(first + from * chart.step, first + to * chart.step)
}
