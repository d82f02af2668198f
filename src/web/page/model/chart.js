import { count, duration, exactDuration, minutes, percent } from './format.js'
import { change, current } from './state.js'

/** @import { State } from './state.js' */

/**
 * A series of a chart. Bars are stacked, the first one lowest.
 *
 * @typedef {object} Series
 * @property {string} name
 * @property {string} colour The class of its colour
 * @property {'bar' | 'line' | 'thin' | 'dots'} shape
 * @property {readonly (number | null)[]} values One for each step; null where it is not known
 */

/** @typedef {{ name: string, about: string, value: number, severity: string }} Threshold */
/** @typedef {{ from: number, to: number }} Period UNIX seconds */

/**
 * The times in which alerts fired, and those that are not covered.
 *
 * @typedef {object} Bands
 * @property {readonly (Period & { severity: string })[]} alerts
 * @property {readonly Period[]} blind
 */

/**
 * What a chart shows.
 *
 * @typedef {object} Chart
 * @property {string} id
 * @property {string} title
 * @property {string} about For screen readers
 * @property {readonly number[]} times When the steps begin (UNIX seconds)
 * @property {number} step Seconds
 * @property {number} complete So many steps have ended
 * @property {boolean} [isInstant] Whether the values are those at the beginning of each step, of which some may be missing
 * @property {keyof typeof UNITS} unit
 * @property {readonly Series[]} series
 * @property {readonly Threshold[]} [thresholds]
 */

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000]
const SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 36_000, 86_400]

/** How values are written, and axes: the highest value of an axis is `least` or more, and its ticks are `incrs` apart. */
export const UNITS = {
  calls: { format: count, onAxis: count, least: 5, incrs: WHOLE },
  minutes: { format: minutes, onAxis: count, least: 5, incrs: WHOLE },
  ratio: {
    format: percent,
    onAxis: (/** @type {number} */ ratio) => `${count(ratio * 100)}%`,
    least: 0.05,
    incrs: [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5],
  },
  seconds: { format: exactDuration, onAxis: duration, least: 5, incrs: SECONDS },
}

/**
 * A value of a chart as its legend and its table have it.
 *
 * @param {Chart} chart
 * @param {number | null | undefined} value
 */
export const valueText = ({ unit }, value) => (value === null || value === undefined ? '–' : UNITS[unit].format(value))

/**
 * The step that has this time; undefined if there is none.
 *
 * @param {Pick<Chart, 'times' | 'step'>} chart
 * @param {number | undefined} time UNIX seconds
 */
export function stepAt({ times: [first = 0, ...others], step }, time) {
  if (time === undefined) return undefined
  const index = Math.floor((time - first) / step)
  return index >= 0 && index <= others.length ? index : undefined
}

/**
 * The step whose values are shown: that of the cursor, otherwise the last one that has ended.
 *
 * @param {Pick<Chart, 'times' | 'step' | 'complete'>} chart
 * @param {Pick<State, 'hovered' | 'selected'>} cursor
 */
export const shownStep = (chart, cursor) => cursorStep(chart, cursor) ?? Math.max(0, chart.complete - 1)

/**
 * The step at the cursor: that under the pointer, otherwise the selected one.
 *
 * @param {Pick<Chart, 'times' | 'step'>} chart
 * @param {Pick<State, 'hovered' | 'selected'>} cursor
 */
export const cursorStep = (chart, { hovered, selected }) => stepAt(chart, hovered) ?? stepAt(chart, selected)

/**
 * The step to which a key moves the cursor; undefined for other keys.
 *
 * @param {string} key
 * @param {number} index
 * @param {number} length
 */
export function movedStep(key, index, length) {
  /** @type {Record<string, number>} */
  const moved = {
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    PageDown: index - 10,
    PageUp: index + 10,
    Home: 0,
    End: length - 1,
  }
  const wanted = moved[key]
  return wanted === undefined ? undefined : Math.min(length - 1, Math.max(0, wanted))
}

/**
 * The data of uPlot: times, then the height of each stack of bars, the highest one first so that lower ones cover its lower
 * part, then the lines, which end with the last step that has ended.
 *
 * @param {Chart} chart
 * @returns {[number[], ...(number | null)[][]]}
 */
export function drawnData({ times, step, complete, isInstant = false, series }) {
  const bars = series.filter(({ shape }) => shape === 'bar')
  const heights = bars.map((_, top) =>
    times.map((_, i) => {
      const stack = bars.slice(0, top + 1).map(({ values }) => values[i] ?? null)
      return stack.every((value) => value === null) ? null : stack.reduce((sum, value) => (sum ?? 0) + (value ?? 0), 0)
    }),
  )
  const lines = series
    .filter(({ shape }) => shape !== 'bar')
    .map(({ shape, values }) =>
      values.map((value, i) => (isInstant || shape === 'dots' || i < complete ? value : null)),
    )
  return [times.map((at) => (isInstant ? at : at + step / 2)), ...heights.toReversed(), ...lines]
}

/**
 * Moves the cursor that all charts share.
 *
 * @param {Partial<Pick<State, 'hovered' | 'selected'>>} moved
 */
export function moveCursor(moved) {
  const { hovered, selected } = current()
  const after = { hovered, selected, ...moved }
  if (after.hovered !== hovered || after.selected !== selected) change(after)
}
