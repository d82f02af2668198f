import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { cursorStep, legendStep, legendText, valueText, type Chart as Shown, type Series } from '../model/chart.ts'
import { isoOf, moment, span, zone } from '../model/format.ts'
import { change, current, nowOf, type State } from '../model/state.ts'
import { coloured, Section, soft, Table, type Column } from './layout.tsx'
import { Plot } from './plot.tsx'

/** A chart with its legend, which has the values at the cursor, and with a table of the same numbers. */
export function Chart(props: {
  chart: Shown
  state: State
  /** Whether the page says elsewhere which period it has. */
  isOfPeriod?: boolean
  /** Called with the steps over which the reader draws (UNIX seconds). */
  onZoom?: (from: number, to: number) => unknown
}) {
  const { chart, state, isOfPeriod = false, onZoom } = props
  const { id, title, times, series, thresholds = [], blind } = chart
  const now = nowOf(state)
  const index = legendStep(chart, state)
  const time = times.length === 0 || (isOfPeriod && index === undefined) ? '' : stepText(chart, index, now)
  const isOpen = state.tables[id]
  // Rendered again when the numbers change, and not when the cursor moves.
  const table = useMemo(() => isOpen && numbers(chart, now), [chart, isOpen])
  return (
    <Section id={id} title={title} note={soft(time)}>
      <dl class="legend">
        {series.map((one) => entry(one.name, one, legendText(chart, one, index)))}
        {thresholds.map(({ name, about, value, severity }) =>
          entry(name, { colour: severity, shape: 'line' }, `${about} ${valueText(chart, value)}`),
        )}
        {blind.length > 0 && inLegend('not covered', 24, HATCH)}
      </dl>
      <div role="img" aria-label={`Chart: ${title}. Its numbers are in the table below.`}>
        <Plot chart={chart} cursor={cursorStep(chart, state)} onZoom={onZoom} />
      </div>
      <details
        open={isOpen}
        onToggle={({ currentTarget: { open } }) => change({ tables: { ...current().tables, [id]: open } })}
      >
        <summary>The chart as a table</summary>
        {table}
      </details>
    </Section>
  )
}

function numbers(chart: Shown, now: string) {
  const { title, times, complete, series } = chart
  const begin = (at: number) => moment(isoOf(at), now).replace(/:00(?= |$)/, '')
  const columns: Column<number>[] = [
    [`From (${zone(now)})`, (i) => [begin(times[i] ?? 0), ' ', i >= complete && soft('so far')]],
    ...series.map(({ name, values }): Column<number> => [name, (i) => valueText(chart, values[i])]),
  ]
  const items = [...times.keys()].toReversed()
  return <Table caption={`${title}, newest first`} columns={columns} items={items} isNumeric isTall />
}

/** An entry of a legend. The drawing before the name is 10 high and `width` wide. */
export const inLegend = (name: string, width: number, drawn: ComponentChildren, value?: string) => (
  <div key={name}>
    <dt>
      <svg viewBox={`0 0 ${width} 10`} aria-hidden="true">
        {drawn}
      </svg>
      {name}
    </dt>
    {value !== undefined && <dd>{value}</dd>}
  </div>
)

const HATCH = <path class="hatch" style={coloured('other')} d="M-2 10L8 0M6 10L16 0M14 10L24 0" />

const entry = (name: string, { colour, shape }: Pick<Series, 'colour' | 'shape'>, value: string) =>
  shape === 'bar'
    ? inLegend(name, 10, <rect class="fill" style={coloured(colour)} width="10" height="10" />, value)
    : inLegend(name, 24, <line class={shape} style={coloured(colour)} x1="0" x2="24" y1="5" y2="5" />, value)

/** The time of a step, or of all of them together, and whether it is over and covered. */
export function stepText(chart: Shown, index: number | undefined, now: string) {
  const { times, step, isInstant = false } = chart
  if (index === undefined) {
    const last = times.length - 1
    return `${timeText(chart, last, [times[0]!, times[last]! + step], now)}${isInstant ? '' : ', in all'}`
  }
  const at = times[index] ?? 0
  return timeText(chart, index, [at, isInstant ? at : at + step], now, step === 60)
}

/** @param last the last step of a time @param isMinute whether it has the name of its beginning */
function timeText(chart: Shown, last: number, [from, to]: [number, number], now: string, isMinute = false) {
  const text = span(isoOf(from), isoOf(isMinute ? from : to), now)
  return `${text}${last >= chart.complete ? ', so far' : ''}${coveredText(chart, from, to)}`
}

function coveredText({ blind }: Shown, at: number, end: number) {
  if (blind.some(({ from, to }) => from <= at && to >= end)) return ', not covered'
  return blind.some(({ from, to }) => from < end && to > at) ? ', not all covered' : ''
}
