import { Component } from '../vendor/preact.js'
import uPlot from '../vendor/uplot.js'
import { html } from '../html.js'
import { change } from '../model/state.js'
import { STATUSES } from '../model/totals.js'

/** @import { Minutes } from '../model/totals.js' */
/** @typedef {{ minutes: Minutes }} Props */

const MINUTE = 60
const DARK = matchMedia('(prefers-color-scheme: dark)')

/**
 * The finished calls of each minute, stacked by status. uPlot draws them into an element that Preact does not change.
 *
 * @extends {Component<Props, {}>}
 */
export class StackedBars extends Component {
  /** @type {uPlot | undefined} */
  plot = undefined
  place = /** @type {HTMLElement | null} */ (null)
  sizes = new ResizeObserver(() => this.plot?.setSize(this.size()))
  draw = () => this.redraw()

  /**
   * @override
   * @param {Props} next
   */
  shouldComponentUpdate(next) {
    return next.minutes !== this.props.minutes
  }

  /** @override */
  componentDidMount() {
    this.redraw()
    if (this.place !== null) this.sizes.observe(this.place)
    DARK.addEventListener('change', this.draw)
  }

  /** @override */
  componentDidUpdate() {
    this.plot?.setData(dataOf(this.props.minutes))
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
    this.plot = new uPlot({ ...options(this.place), ...this.size() }, dataOf(this.props.minutes), this.place)
  }
}

/**
 * @param {HTMLElement} place has the colours of the chart in its style
 * @returns {Omit<uPlot.Options, 'width' | 'height'>}
 */
function options(place) {
  const style = getComputedStyle(place)
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`)
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  return {
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: (_plot, min, max) => [min, max + MINUTE] },
      y: { range: (_plot, _min, max) => [0, Math.max(5, max * 1.1)] },
    },
    axes: [
      { ...axis, values: '{HH}:{mm}', grid: { show: false } },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] },
    ],
    series: [
      {},
      // The highest stack first, so that lower ones cover its lower part.
      ...STATUSES.toReversed().map((status) => ({
        label: status,
        fill: colour(status),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.85, Infinity], align: 1 }) }),
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => change({ hovered: idx ?? undefined })] },
  }
}

/**
 * The minutes, and for each status the height of the stack up to it, highest first.
 *
 * @param {Props['minutes']} minutes
 * @returns {uPlot.AlignedData}
 */
function dataOf(minutes) {
  const heights = STATUSES.map((_, top) =>
    minutes.map(({ counts }) => {
      if (counts === undefined) return null
      return STATUSES.slice(0, top + 1).reduce((height, status) => height + counts[status], 0)
    }),
  )
  return [minutes.map(({ at }) => at), ...heights.toReversed()]
}
