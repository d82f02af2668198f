import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { DERIVED_METRICS } from '../metrics/derived-metrics.ts'
import { seriesName } from '../simulator/series.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { exactFamilies, expectedSeries } from '../simulator/expected-series.ts'
import { failureRatio } from '../simulator/failure-ratio.ts'
import type { CountOptions } from '../simulator/counted-calls.ts'
import type { ShownTarget } from '../target/target.ts'

/** How the exact series compare with what the simulator recorded. */
export type Comparison = {
  /** Number of compared series. */
  series: number
  differences: { series: string; recorded: number; counted: number }[]
}

const FAILURE_RATIO = 'callwatch_call_failure_ratio'
/** Minutes are summed in a different order on each side. */
const TOLERANCE = 1e-9

/** Compares the exported series of a target with the simulator's events up to the start of the latest poll. */
export function compareWithSimulator(watched: ShownTarget, simulator: Simulator): Comparison {
  const polled = simulator.responses().findLast(({ path }) => /[?&]page=1(&|$)/.test(path))
  const { created } = watched.ledger.sync
  const { baseline, lookback } = watched.settings.poll
  // Of calls that were over at the set-up, those before the horizon count nowhere. Their own times are whole seconds.
  const horizon = Math.ceil(created - lookback)
  const events = simulator.ledger()
  const options = { created, baseline, horizon, now: polled?.at ?? Infinity }
  const recorded = new Map([...expectedSeries(events, options), ...recordedRatios(watched, events, options)])
  const counted = exportedSeries(watched, [...exactFamilies, FAILURE_RATIO])
  const names = new Set([...recorded.keys(), ...counted.keys()])
  const differences = [...names].flatMap((series) => {
    const expected = recorded.get(series) ?? 0
    const actual = counted.get(series) ?? 0
    const equal = Math.abs(expected - actual) <= TOLERANCE * Math.max(1, Math.abs(expected))
    return equal ? [] : [{ series, recorded: expected, counted: actual }]
  })
  return { series: names.size, differences }
}

/** The failure ratios of the exported windows, by the simulator's events. */
function recordedRatios(watched: ShownTarget, events: ReturnType<Simulator['ledger']>, options: CountOptions) {
  const { lastSuccess = 0, previousSuccess = lastSuccess } = watched.ledger.sync
  return Object.entries(EXPORTED_WINDOWS).flatMap(([window, seconds]) => {
    const { ratio } = failureRatio(events, { ...options, from: Math.min(lastSuccess - seconds, previousSuccess) })
    return Object.entries(ratio ?? {}).map(
      ([reason, value]) => [seriesName(FAILURE_RATIO, { window, reason }), value] as const,
    )
  })
}

/** The exported series of a target, without the label `target`. */
export function exportedSeries(watched: ShownTarget, families: readonly string[]): Map<string, number> {
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
