import type { Period } from './episodes.ts'
import type { Scrape } from './watched-history.ts'

/** What is left of the gap (seconds): longer than any window but the one of a week before. */
const LEFT = 7200

/**
 * The same scrapes with most of a time cut out in which the daemon was down, as if what follows had come days sooner: for
 * rules that cannot tell the difference, so that Prometheus need not evaluate them thousands of times for nothing.
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

/** The opposite: what stands at the places of the shorter history goes back to those of the whole one. */
export function withGap<T>(items: readonly T[], scrapes: readonly Scrape[], { from, to }: Period, missing: T): T[] {
  let next = 0
  return scrapes.map(({ at }) => (at < from + LEFT || at >= to ? items[next++]! : missing))
}
