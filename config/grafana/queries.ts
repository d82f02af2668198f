/** The targets that are chosen at the top. */
export const T = 'target=~"$target"'
/** What quantiles and shares are taken over: less time holds too few calls (as in the shipped rules). */
export const WINDOW = '15m'

/** Quantiles by name, of the observations of the last quarter of an hour. */
export function quantiles(metric: string, shares: readonly number[], selector = T): Record<string, string> {
  const rates = `sum by (le) (rate(${metric}_bucket{${selector}}[${WINDOW}]))`
  return Object.fromEntries(
    shares.map((share) => [`${Math.round(share * 100)} %`, `histogram_quantile(${share}, ${rates})`]),
  )
}
