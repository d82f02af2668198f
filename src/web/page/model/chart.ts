import { formatNumber, formatOfUsual, formatSeconds, formatShare } from '../../../text/format.ts'
import { change, current, type State } from './state.ts'

/** A series of a chart. Bars are stacked, the first one lowest. */
export type Series = {
  name: string
  /** The name of its colour in colours.css */
  colour: string
  shape: 'bar' | 'line' | 'thin' | 'dots'
  /** One for each step; null where it is not known */
  values: readonly (number | null)[]
  /** That of the whole period: its total, its ratio, or its mean. */
  whole?: number | null
}

export type Threshold = { name: string; about: string; value: number; severity: string }
/** UNIX seconds */
export type Period = { from: number; to: number }

/** What a chart shows. */
export type Chart = {
  id: string
  title: string
  /** When the steps begin (UNIX seconds) */
  times: readonly number[]
  /** Seconds */
  step: number
  /** So many steps have ended */
  complete: number
  /** Whether the values are those at the beginning of each step */
  isInstant?: boolean
  unit: keyof typeof UNITS
  series: readonly Series[]
  thresholds?: readonly Threshold[]
  /** The times that are not covered. */
  blind: readonly Period[]
}

type Steps = Pick<Chart, 'times' | 'step'>
/** Where the cursor is that all charts share. */
type Cursor = Pick<State, 'hovered' | 'selected'>

const WHOLE = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((first) => first * 10 ** power)).flat()
const MILLION = 1_000_000
const SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 36_000, 86_400]

const whole = {
  format: (value: number) => formatNumber(value),
  // The room beside an axis has no more digits.
  onAxis: (value: number) => (value < MILLION ? formatNumber(value, 0) : `${formatNumber(value / MILLION)}M`),
  least: 5,
  incrs: WHOLE,
}

const SHARES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10]
const share = { format: formatShare, onAxis: formatShare, least: 0.05, incrs: SHARES }
const difference = (value: number) => formatOfUsual(value, true)

/** How values are written, and axes: the highest value of an axis is `least` or more, and its ticks are `incrs` apart. */
export const UNITS = {
  calls: { ...whole, format: (value: number) => formatNumber(value, 0) },
  number: whole,
  ratio: share,
  relative: { ...share, format: (value: number) => formatOfUsual(value, false), least: 1 },
  difference: { ...share, format: difference, onAxis: difference },
  seconds: {
    format: (value: number) => formatSeconds(value, 3),
    onAxis: (value: number) => formatSeconds(value),
    least: 5,
    incrs: SECONDS,
  },
}

/** A value of a chart as its legend and its table have it. */
export const valueText = ({ unit }: Chart, value: number | null | undefined) =>
  value === null || value === undefined ? '–' : UNITS[unit].format(value)

/** What the legend has of a series: its value at a step, or that of the whole period, which is the mean of numbers at moments. */
export const legendText = (chart: Chart, { whole, values }: Series, index: number | undefined) =>
  index === undefined ? `${chart.isInstant ? 'mean ' : ''}${valueText(chart, whole)}` : valueText(chart, values[index])

/**
 * The step that has this time; undefined if there is none.
 *
 * @param time UNIX seconds
 */
export function stepAt({ times, step }: Steps, time: number | undefined) {
  // Days are not all as long as a step.
  const index = times.findLastIndex((at) => at <= (time ?? NaN))
  return index >= 0 && (index + 1 < times.length || time! < times[index]! + step) ? index : undefined
}

/** The step whose values are shown: that of the cursor, otherwise the last one that has ended. */
export const shownStep = (chart: Steps & Pick<Chart, 'complete'>, cursor: Cursor) =>
  cursorStep(chart, cursor) ?? Math.max(0, chart.complete - 1)

/** The step at the cursor, or the last one that has ended; undefined where the values of the whole period are known. */
export const legendStep = (chart: Chart, cursor: Cursor) =>
  cursorStep(chart, cursor) ??
  (chart.series.some(({ whole }) => whole !== undefined) ? undefined : shownStep(chart, cursor))

/** The step at the cursor: that under the pointer, otherwise the selected one. */
export const cursorStep = (chart: Steps, { hovered, selected }: Cursor) =>
  stepAt(chart, hovered) ?? stepAt(chart, selected)

/**
 * The data of uPlot: times, then the height of each stack of bars, the highest one first so that lower ones cover its lower
 * part, then the lines, which end with the last step that has ended.
 */
export function drawnData({
  times,
  step,
  complete,
  isInstant = false,
  series,
}: Chart): [number[], ...(number | null)[][]] {
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

/** Moves the cursor that all charts share. */
export function moveCursor(moved: Partial<Cursor>) {
  const { hovered, selected } = current()
  const after = { hovered, selected, ...moved }
  if (after.hovered !== hovered || after.selected !== selected) change(after)
}
