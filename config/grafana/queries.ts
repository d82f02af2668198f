/** Matches the targets that the user selects at the top. */
export const T = 'target=~"$target"'
/** The window of quantiles and shares, as in the shipped rules: a shorter one has too few calls. */
export const WINDOW = '15m'

/**
 * Selects a counter of calls as config/prometheus/callwatch-recording.yaml records it: one series per target. After a
 * failover the counter continues in another daemon; `rate()` over the series of each daemon would count calls twice.
 */
export function recorded(metric: string, matcher = ''): string {
  return `target:${metric}:max{${matcher === '' ? T : `${matcher}, ${T}`}}`
}

/** Quantiles of a daemon's histogram over the window, by legend. */
export function quantiles(metric: string, levels: readonly number[], selector = T): Record<string, string> {
  return quantilesOf(`${metric}_bucket{${selector}}`, levels)
}

/** Quantiles of a recorded histogram of calls over the window, by legend. */
export function recordedQuantiles(metric: string, levels: readonly number[]): Record<string, string> {
  return quantilesOf(recorded(`${metric}_bucket`), levels)
}

function quantilesOf(buckets: string, levels: readonly number[]): Record<string, string> {
  const rates = `sum by (le) (rate(${buckets}[${WINDOW}]))`
  return Object.fromEntries(
    levels.map((level) => [`p${Math.round(level * 100)}`, `histogram_quantile(${level}, ${rates})`]),
  )
}
