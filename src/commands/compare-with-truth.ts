import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
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

const FAILURE_RATIO = 'callwatch_call_failure_ratio'
/** Sums of minutes are added up in another order on each side. */
const TOLERANCE = 1e-9

/** Compares what is exported of a target with the simulator's events, as they stood when the latest look began. */
export function compareWithTruth(watched: WatchedTarget, simulator: Simulator): Comparison {
  const looked = simulator.responses().findLast(({ path }) => /[?&]page=1(&|$)/.test(path))
  const { created } = watched.ledger.facts
  const options = { created, baseline: 'skip' as const, ...(looked === undefined ? {} : { now: looked.at }) }
  const truth = new Map([...simulator.truth(options), ...trueRatios(watched, simulator, options)])
  const counted = exportedSeries(watched, [...exactFamilies, FAILURE_RATIO])
  const names = new Set([...truth.keys(), ...counted.keys()])
  const differences = [...names].flatMap((series) => {
    const expected = truth.get(series) ?? 0
    const actual = counted.get(series) ?? 0
    const equal = Math.abs(expected - actual) <= TOLERANCE * Math.max(1, Math.abs(expected))
    return equal ? [] : [{ series, truth: expected, counted: actual }]
  })
  return { series: names.size, differences }
}

/** The failure ratios of the exported windows, as they follow from what happened. */
function trueRatios(watched: WatchedTarget, simulator: Simulator, options: Parameters<Simulator['truth']>[0]) {
  const { lastGood = 0, previousGood = lastGood } = watched.ledger.facts
  return Object.entries(EXPORTED_WINDOWS).flatMap(([window, seconds]) => {
    const { ratio } = simulator.failureRatio({ ...options, from: Math.min(lastGood - seconds, previousGood) })
    return Object.entries(ratio ?? {}).map(
      ([reason, value]) => [seriesName(FAILURE_RATIO, { window, reason }), value] as const,
    )
  })
}

/** What is exported of a target, without its name. */
export function exportedSeries(watched: WatchedTarget, families: readonly string[]): Map<string, number> {
  const metrics = DERIVED_METRICS.filter(({ name }) => families.includes(name))
  const samples = metrics.flatMap((metric) =>
    metric
      .read(watched)
      .map(({ labels, sharedLabels: { target: _target, ...shared }, value, metricName = metric.name }) => {
        const texts = Object.entries({ ...shared, ...labels }).map(([name, label]) => [name, String(label)])
        return [seriesName(metricName, Object.fromEntries(texts)), value] as const
      }),
  )
  return new Map(samples)
}
