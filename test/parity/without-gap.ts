import type { Period } from './episodes.ts'
import type { Scrape } from './polled-history.ts'

/** The rest of the gap (seconds), longer than any window except the one a week earlier. */
const LEFT = 7200

/**
 * Shortens a period in which the daemon was down: later scrapes move earlier by days. Rules that do not look back so far
 * have the same results, and Prometheus evaluates them thousands of times less often.
 */
export function withoutGap(scrapes: readonly Scrape[], { from, to }: Period): Scrape[] {
  const cut = to - from - LEFT
  return scrapes.flatMap((scrape) => {
    if (scrape.at < from + LEFT) return [scrape]
    if (scrape.at < to) return []
    const series = [...scrape.series].map(([name, value]): [string, number] => [
      name,
      name.includes('_timestamp_seconds{') ? value - cut : value,
    ])
    return [{ ...scrape, at: scrape.at - cut, series: new Map(series) }]
  })
}

/** The inverse: moves the results for the shortened history to their places in the whole history. */
export function withGap<T>(items: readonly T[], scrapes: readonly Scrape[], { from, to }: Period, missing: T): T[] {
  let next = 0
  return scrapes.map(({ at }) => (at < from + LEFT || at >= to ? items[next++]! : missing))
}
