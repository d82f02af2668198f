import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { drawnData, moveCursor, UNITS, type Chart } from '../model/chart.ts'
import { zoneName } from '../model/format.ts'
import { drawBlind, drawIncomplete, drawThresholds } from './plot-marks.ts'

type Props = {
  chart: Chart
  /** The step at the cursor. */
  cursor: number | undefined
  onZoom: ((from: number, to: number) => unknown) | undefined
}
/** What the callbacks of uPlot read: the newest properties. */
type Latest = RefObject<Props>

export const DARK = '(prefers-color-scheme: dark)'
const LINES = { line: { width: 2 }, thin: { width: 1.25 }, dots: { width: 1.5, dash: [2, 4] } }
/** CSS pixels. */
const MIN_BRUSH = 4
/** Formats of the times of an axis by the distance of its ticks (seconds); the date is below the first one of a day. */
const TIMES = [
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
]

/** Distances of ticks in days: from 30 on, uPlot counts months, and from 365 on years. */
const DAYS = [1, 2, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 730, 1825]
/** The distances of ticks (seconds): whole minutes, because the times have no seconds. */
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, ...DAYS.map((days) => days * 1440)].map(
  (minutes) => minutes * 60,
)

/** The drawing of a chart. uPlot draws into an element that Preact does not change, after the browser has painted what is around it. */
export function Plot(props: Props) {
  const { chart, cursor } = props
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  // A plot with another form is a new plot.
  const form = [
    matchMedia(DARK).matches,
    zoneName(),
    chart.id,
    chart.unit,
    ...chart.series.map(({ name, shape, colour }) => `${name} ${shape} ${colour}`),
  ].join('|')
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const size = () => ({ width: element.clientWidth, height: element.clientHeight })
    const plot = new uPlot({ ...optionsOf(latest, element), ...size() }, drawnData(latest.current.chart), element)
    const sizes = new ResizeObserver(() => plot.setSize(size()))
    sizes.observe(element)
    drawn.current = plot
    return () => {
      sizes.disconnect()
      plot.destroy()
    }
  }, [form])
  useEffect(() => drawn.current?.setData(drawnData(chart)), [chart])
  useEffect(() => showCursor(drawn.current, cursor), [form, chart, cursor])
  return <div class="chart" ref={place} />
}

/** Shows the cursor that all charts share. The chart below the pointer has it already. */
function showCursor(plot: uPlot | undefined, cursor: number | undefined) {
  if (plot === undefined || (plot.cursor.idx ?? undefined) === cursor) return
  const at = cursor === undefined ? undefined : plot.data[0][cursor]
  const [left, top] = at === undefined ? [-10, -10] : [plot.valToPos(at, 'x'), 0]
  plot.setCursor({ left, top }, false)
}

/** @param place has the colours of the chart in its style */
function optionsOf(latest: Latest, place: HTMLElement): Omit<uPlot.Options, 'width' | 'height'> {
  const style = getComputedStyle(place)
  // A canvas does not know light-dark(light, dark).
  const scheme = Number(matchMedia(DARK).matches)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).match(/#\w+/g)?.[scheme] ?? ''
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  const { chart, onZoom } = latest.current
  // To ask the browser takes long, and there are many ticks.
  const timeZone = zoneName()
  const { onAxis, least, incrs } = UNITS[chart.unit]
  // A step has no ticks within.
  const ticks = () => TICKS.filter((seconds) => seconds >= latest.current.chart.step)
  const timeAt = (index: number | null | undefined) => latest.current.chart.times[index ?? -1]
  return {
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: chart.series.every(({ shape }) => shape !== 'bar') },
      drag: { x: onZoom !== undefined, y: false, setScale: false, dist: MIN_BRUSH },
    },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), timeZone),
    scales: {
      x: { time: true, range: () => rangeOf(latest.current.chart) },
      y: {
        range: (_plot, _min, max) => {
          const thresholds = latest.current.chart.thresholds?.map(({ value }) => value) ?? []
          return [0, Math.max(least, ...thresholds, max ?? 0) * 1.12]
        },
      },
    },
    axes: [
      { ...axis, incrs: ticks, values: TIMES, grid: { show: false } },
      { ...axis, size: 60, incrs, values: (_plot, splits) => splits.map(onAxis) },
    ],
    series: seriesOf(chart, colour),
    hooks: {
      drawAxes: [(plot) => drawBlind(plot, latest.current.chart, colour)],
      draw: [
        (plot) => drawIncomplete(plot, latest.current.chart, colour('card')),
        (plot) => drawThresholds(plot, latest.current.chart, colour),
      ],
      setCursor: [({ cursor: { idx } }) => moveCursor({ hovered: timeAt(idx) })],
      setSelect: [(plot) => zoom(plot, latest.current)],
      ready: [({ over, cursor }) => over.addEventListener('click', () => moveCursor({ selected: timeAt(cursor.idx) }))],
    },
  }
}

/** Bars, the highest stack first, then lines, as the data has them. */
function seriesOf({ series }: Chart, colour: (name: string) => string): uPlot.Series[] {
  const lines = series.filter(({ shape }) => shape !== 'bar')
  const bars = series.filter(({ shape }) => shape === 'bar').toReversed()
  const isFilled = bars.length === 0 && lines.filter(({ shape }) => shape !== 'dots').length === 1
  return [
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
      points: { size: 5, fill: colour(name), filter: alone },
    })),
  ]
}

const rangeOf = ({ times, step }: Chart): [number, number] => [times[0] ?? 0, (times.at(-1) ?? 0) + step]

/** The points without a line to another one. */
function alone({ data }: uPlot, index: number) {
  const values = data[index] ?? []
  return [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null)
}

/** Zooms to the steps over which the reader has drawn. */
function zoom(plot: uPlot, { chart, onZoom }: Props) {
  const { left, width } = plot.select
  if (width === 0 || onZoom === undefined) return
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  const [first] = rangeOf(chart)
  const steps = (position: number) => (plot.posToVal(position, 'x') - first) / chart.step
  const from = Math.max(0, Math.floor(steps(left)))
  const to = Math.min(chart.times.length, Math.ceil(steps(left + width)))
  onZoom(first + from * chart.step, first + to * chart.step)
}
