import { isEqual } from '../../ledger/delta/minutes.ts'
import { EXPORTED_WINDOWS } from '../../ledger/failure-ratio.ts'
import { DERIVED_METRICS } from '../../metrics/derived-metrics.ts'
import { seriesName, exactFamilies, expectedSeries, failureRatio } from '../../simulator/expected/expected-series.ts'
import type { Simulator } from '../../simulator/simulator.ts'
import type { CountOptions } from '../../simulator/expected/counted-calls.ts'
import type { TargetStatus } from '../../pipeline/target.ts'

export type Comparison = ReturnType<typeof compareWithSimulator>

const FAILURE_RATIO = 'callwatch_call_failure_ratio'

/**
 * Compares the exported series of a target with what the simulator recorded up to the start of the latest poll, `at` (UNIX seconds by
 * the service's clock).
 */
export function compareWithSimulator(target: TargetStatus, simulator: Simulator) {
  const polled = simulator.responses().findLast(({ path }) => /[?&]page=1(&|$)/.test(path))
  const { created } = target.ledger.sync
  const { baseline, lookback } = target.settings.poll
  // Calls that were final when the target was created, and are before the horizon, are counted nowhere. Their own times are
  // whole seconds.
  const horizon = Math.ceil(created - lookback)
  const events = simulator.ledger()
  const at = polled?.at ?? Infinity
  const options = { created, baseline, horizon, now: at }
  const ratios = new Map(recordedRatios(target, events, options))
  const recorded = new Map([
    ...expectedSeries(events, options),
    ...[...ratios].map(([name, { value }]) => [name, value] as const),
  ])
  const counted = exportedSeries(target, [...exactFamilies, FAILURE_RATIO])
  const names = new Set([...recorded.keys(), ...counted.keys()])
  const differences = [...names].flatMap((series) => {
    const expected = recorded.get(series) ?? 0
    const actual = counted.get(series) ?? 0
    const tolerance = ratios.get(series)?.tolerance ?? 0
    const isSame = isEqual(expected, actual) || Math.abs(expected - actual) <= tolerance
    return isSame ? [] : [{ series, recorded: expected, counted: actual }]
  })
  return { at, series: names.size, differences }
}

/** The failure ratios of the exported windows, from the simulator's records. */
function recordedRatios(target: TargetStatus, events: ReturnType<Simulator['ledger']>, options: CountOptions) {
  const { lastSuccess = 0, previousSuccess = lastSuccess } = target.ledger.sync
  return Object.entries(EXPORTED_WINDOWS).flatMap(([window, seconds]) => {
    const { ratio, tolerance } = failureRatio(events, {
      ...options,
      from: Math.min(lastSuccess - seconds, previousSuccess),
    })
    return Object.entries(ratio ?? {}).map(
      ([reason, value]) => [seriesName(FAILURE_RATIO, { window, reason }), { value, tolerance }] as const,
    )
  })
}

/** The exported series of a target, without the label `target`. */
export function exportedSeries(target: TargetStatus, families: readonly string[]): Map<string, number> {
  const metrics = DERIVED_METRICS.filter(({ name }) => families.includes(name))
  const samples = metrics.flatMap((metric) =>
    metric
      .read(target)
      .map(({ labels, sharedLabels: { target: _target, ...shared }, value, metricName = metric.name }) => {
        const texts = Object.entries({ ...shared, ...labels }).map(([name, label]) => [name, String(label)])
        return [seriesName(metricName, Object.fromEntries(texts)), value] as const
      }),
  )
  return new Map(samples)
}
