import { describeMetrics } from './describe-metrics.ts'

/** Matches the targets that the user selects at the top. */
export const T = 'target=~"$target"'
/** The window of quantiles and shares, as in the shipped rules: a shorter one has too few calls. */
export const WINDOW = '15m'
/** The labels of calls that the user selects at the top, beside the target. */
export const CALL_LABELS = ['type', 'mode', 'receiver_type'] as const

const labels = new Map(describeMetrics().map(({ name, labels }) => [name, labels]))

/**
 * The series of a metric of calls that the user selects, one per target and kind of call, whichever daemon exports it. The
 * larger one of two daemons' counters is correct, also while a target moves.
 */
export function selected(metric: string, matcher = ''): string {
  const known = labels.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? []
  const kinds = CALL_LABELS.filter((label) => known.includes(label)).map((label) => `${label}=~"$${label}"`)
  const by = [...known, ...(metric.endsWith('_bucket') ? ['le'] : [])].join(', ')
  const matchers = [matcher, T, ...kinds].filter((each) => each !== '').join(', ')
  return `max by (${by}) (${metric}{${matchers}})`
}

/**
 * The same over a time. After a failover a counter continues in another daemon: the series of each daemon by itself would
 * count calls twice, or not at all. `$resolution` is a constant of the dashboard.
 */
export function during(window: string, metric: string, matcher = ''): string {
  return `${selected(metric, matcher)}[${window}:$resolution]`
}

/** Quantiles of a daemon's histogram over the window, by legend. */
export function quantiles(metric: string, levels: readonly number[], selector = T): Record<string, string> {
  return quantilesOf(`${metric}_bucket{${selector}}[${WINDOW}]`, levels)
}

/** Quantiles of a histogram of calls over the window, by legend. */
export function callQuantiles(metric: string, levels: readonly number[]): Record<string, string> {
  return quantilesOf(during(WINDOW, `${metric}_bucket`), levels)
}

function quantilesOf(buckets: string, levels: readonly number[]): Record<string, string> {
  const rates = `sum by (le) (rate(${buckets}))`
  return Object.fromEntries(
    levels.map((level) => [`p${Math.round(level * 100)}`, `histogram_quantile(${level}, ${rates})`]),
  )
}
