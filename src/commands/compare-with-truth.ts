import { DERIVED_METRICS } from '../metrics/derived-metrics.ts'
import { seriesName } from '../simulator/series.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { exactFamilies } from '../simulator/truth.ts'
import type { WatchedTarget } from '../web/views.ts'

/** How the exact series compare with what really happened. */
export type Comparison = {
  /** Series that were compared. */
  series: number
  differences: { series: string; truth: number; counted: number }[]
}

/** Sums of minutes are added up in another order on each side. */
const TOLERANCE = 1e-9

/** Compares what is exported of a target with the simulator's events, as they stood when the latest look began. */
export function compareWithTruth(watched: WatchedTarget, simulator: Simulator): Comparison {
  const looked = simulator.responses().findLast(({ path }) => /[?&]page=1(&|$)/.test(path))
  const { created } = watched.ledger.facts
  const truth = simulator.truth({ created, baseline: 'skip', ...(looked === undefined ? {} : { now: looked.at }) })
  const counted = exactSeries(watched)
  const names = new Set([...truth.keys(), ...counted.keys()])
  const differences = [...names].flatMap((series) => {
    const expected = truth.get(series) ?? 0
    const actual = counted.get(series) ?? 0
    const equal = Math.abs(expected - actual) <= TOLERANCE * Math.max(1, Math.abs(expected))
    return equal ? [] : [{ series, truth: expected, counted: actual }]
  })
  return { series: names.size, differences }
}

function exactSeries(watched: WatchedTarget): Map<string, number> {
  const exact = DERIVED_METRICS.filter(({ name }) => exactFamilies.includes(name))
  const samples = exact.flatMap((metric) =>
    metric.read(watched).map(({ labels: { target: _target, ...labels }, value, metricName = metric.name }) => {
      const texts = Object.entries(labels).map(([name, label]) => [name, String(label)])
      return [seriesName(metricName, Object.fromEntries(texts)), value] as const
    }),
  )
  return new Map(samples)
}
