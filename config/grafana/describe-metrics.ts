import { DERIVED_METRICS } from '../../src/metrics/derived-metrics.ts'
import {
  COUNTER_DEFINITIONS,
  GAUGE_DEFINITIONS,
  HISTOGRAM_DEFINITIONS,
  type MetricDefinition,
} from '../../src/metrics/operational-metrics.ts'

export type MetricDescription = ReturnType<typeof describeMetrics>[number]

/** Describes every metric, sorted by name. The value of a durable one comes from the store. */
export function describeMetrics() {
  const derived = DERIVED_METRICS.map(({ name, type, labels, help }) => {
    return { name, type, labels: ['target', ...labels], help, durable: true }
  })
  return [
    ...derived,
    ...typed(COUNTER_DEFINITIONS, 'counter'),
    ...typed(GAUGE_DEFINITIONS, 'gauge'),
    ...typed(HISTOGRAM_DEFINITIONS, 'histogram'),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function typed(definitions: Record<string, MetricDefinition>, type: string) {
  return Object.values(definitions).map(({ name, labels, help }) => ({ name, type, labels, help, durable: false }))
}
