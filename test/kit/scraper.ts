import { setTimeout as wait } from 'node:timers/promises'
import { exactFamilies, type Series } from '../../src/simulator/expected/expected-series.ts'
import { parseExposition } from './replay/exposition.ts'
import { observedFamilies } from './replay/replay.ts'

/** What the daemon exported, scrape after scrape, over all lives of its process. */
export type Scraper = {
  scrapes: number
  /** Counters about calls that were lower than in an earlier scrape, or missing. */
  lower: string[]
  /** All that was served, each text once; it is searched for secrets. */
  served: Set<string>
  stop: () => Promise<void>
}

const PAUSE_MS = 150
const COUNTERS = new Set([...exactFamilies, ...observedFamilies])
COUNTERS.delete('callwatch_calls_in_progress')

/** @param url the page of the daemon that runs now; undefined where none does */
export function startScraper(url: () => string | undefined): Scraper {
  const stopping = new AbortController()
  let before: Series = new Map()
  const scraper: Scraper = {
    scrapes: 0,
    lower: [],
    served: new Set(),
    stop: async () => {
      stopping.abort()
      await loop
    },
  }
  async function scrape(page: string): Promise<void> {
    const text = await textAt(`${page}metrics`)
    const counters = countersOf(parseExposition(text))
    scraper.scrapes += 1
    for (const [series, value] of before) {
      const now = counters.get(series)
      if (now === undefined || now < value) scraper.lower.push(`${series}: ${value}, then ${now ?? 'missing'}`)
    }
    before = counters
    for (const path of ['readyz', 'api/v1/state']) scraper.served.add(await textAt(page + path))
    scraper.served.add(text)
  }
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const page = url()
      // A killed daemon does not answer.
      if (page !== undefined) await scrape(page).catch(unlessUnreachable)
      await wait(PAUSE_MS)
    }
  }
  const loop = run()
  return scraper
}

/** The series that must never fall. */
export function countersOf(series: Series): Series {
  return new Map(
    [...series].filter(([name]) => COUNTERS.has(name.split('{', 1)[0]!.replace(/_(bucket|sum|count)$/, ''))),
  )
}

export async function textAt(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) })
  return response.text()
}

/** A daemon that has died, is paused in a commit, or is being started. */
function unlessUnreachable(error: unknown): void {
  if (error instanceof SyntaxError) throw error
}
