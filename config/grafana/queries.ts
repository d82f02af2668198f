/** The targets that are chosen at the top. */
export const T = 'target=~"$target"'
/** What quantiles and shares are taken over: less time holds too few calls (as in the shipped rules). */
export const WINDOW = '15m'

/**
 * What a counter of calls tells of the chosen targets, whichever daemon watches them: as config/prometheus/callwatch-recording.yaml
 * records it. A counter of calls goes on in another daemon where it was, and each daemon's own rate would count twice what
 * happened elsewhere while a target was away.
 */
export function counted(metric: string, matcher = ''): string {
  return `target:${metric}:max{${matcher === '' ? T : `${matcher}, ${T}`}}`
}

/** Quantiles by name, of the observations of the last quarter of an hour. */
export function quantiles(metric: string, shares: readonly number[], selector = T): Record<string, string> {
  return quantilesOf(`${metric}_bucket{${selector}}`, shares)
}

/** The same of a histogram of calls. */
export function countedQuantiles(metric: string, shares: readonly number[]): Record<string, string> {
  return quantilesOf(counted(`${metric}_bucket`), shares)
}

function quantilesOf(buckets: string, shares: readonly number[]): Record<string, string> {
  const rates = `sum by (le) (rate(${buckets}[${WINDOW}]))`
  return Object.fromEntries(
    shares.map((share) => [`${Math.round(share * 100)} %`, `histogram_quantile(${share}, ${rates})`]),
  )
}
