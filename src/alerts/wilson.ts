/**
 * The bounds of the true share if `hits` of `n` were seen: the one-sided score interval (Wilson 1927, "Probable inference,
 * the law of succession, and statistical inference").
 *
 * @param confidence of each bound alone, between 0.5 and 1
 */
export function wilsonBounds(hits: number, n: number, confidence: number): { lower: number; upper: number } {
  if (n === 0) return { lower: 0, upper: 1 }
  const z = normalQuantile(confidence)
  const share = hits / n
  const middle = share + z ** 2 / (2 * n)
  const reach = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))
  const scale = 1 + z ** 2 / n
  return { lower: Math.max(0, (middle - reach) / scale), upper: Math.min(1, (middle + reach) / scale) }
}

/** How many standard deviations a quantile of the normal distribution lies from its mean, found by bisection. */
function normalQuantile(probability: number): number {
  let [low, high] = [0, 10]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (normalShareBelow(middle) < probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** The normal distribution function (Zelen and Severo 1964, Abramowitz and Stegun 26.2.17), to 7.5e-8, for x ≥ 0. */
function normalShareBelow(x: number): number {
  const t = 1 / (1 + 0.2316419 * x)
  const series = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const tail = series.reduceRight((sum, factor) => (sum + factor) * t, 0)
  return 1 - (Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI)) * tail
}
