import type { AlertInstance } from '../../src/alerts/alert-instance.ts'
import { evaluate } from '../../src/alerts/evaluate.ts'
import { read, type Look, type Occasion, type Reading } from '../../src/alerts/reading.ts'
import { windowOf, type Rule } from '../../src/alerts/rule.ts'
import { monthOf } from '../../src/clock/calendar.ts'
import { keptFinishes } from '../../src/ledger/finished-calls.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { CREATED } from '../ledger/seen.ts'
import type { Scrape } from './watched-history.ts'

/** What callwatch's own code makes of a rule at a scrape. */
export type AtScrape = {
  firing: boolean
  /** What it went by; undefined where a rule is not about finished calls. */
  reading: Reading | undefined
}

/**
 * What a rule goes by: `looks`, as callwatch does, the calls by when they ended and only good looks; or `scrapes`, as
 * Prometheus does, a call being over when the counter moves, and every scrape until nothing is known of the target.
 */
export type GoingBy = 'looks' | 'scrapes'

const OLDEST = 'callwatch_oldest_open_call_timestamp_seconds'
const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/** As in the Prometheus rules: polls that may fail before nothing is known of the target. */
const BLIND_INTERVALS = 4

/**
 * Judges a rule by callwatch's own code, but at the moments of the scrapes. Where callwatch and Prometheus say different
 * things and this says what Prometheus does, what it went by is the whole cause.
 *
 * @param interval seconds between two scrapes
 */
export function judgeAtScrapes(rule: Rule, scrapes: readonly Scrape[], by: GoingBy, interval: number): AtScrape[] {
  const instances = new Map<string, AlertInstance>()
  const finished = keptFinishes()
  // Before the first good poll its age counts from the set-up, which was before the first scrape.
  let polled = -1
  let reading: Reading | undefined
  return scrapes.map((scrape): AtScrape => {
    const { at, up, look } = scrape
    const now = CREATED + at
    polled = valueOf(scrape, POLLED) ?? polled
    const age = at - polled
    if (look !== undefined) {
      // A second before its scrape: `increase` leaves out what the first sample of its window has already counted.
      const ends = by === 'looks' ? look.finishes : look.finishes.map((finish) => ({ ...finish, at: now - 1 }))
      for (const end of ends) finished.add(end)
    }
    const occasion = occasionAt()
    if (occasion !== undefined) {
      const delta = evaluate(instances, occasion, { target: 'production', rules: [rule], now, interval, monthOf })
      for (const instance of delta.changed) instances.set(instance.key, instance)
      for (const { key } of delta.ended) instances.delete(key)
      if (occasion.kind === 'look') reading = readingOf(rule, occasion)
    }
    return { firing: [...instances.values()].some(({ state }) => state !== 'pending'), reading }

    function occasionAt(): Occasion | undefined {
      if (rule.signal.name === 'poll_age') return up || by === 'scrapes' ? { kind: 'tick', pollAge: age } : undefined
      const oldest = valueOf(scrape, OLDEST)
      const open = oldest === undefined ? [] : [openSince(CREATED + oldest)]
      const seen = { kind: 'look', limited: false, created: 0, usedSince: () => 0, finished, open } as const
      if (by === 'looks') return look && { ...seen, judged: look }
      // A gauge is gone at once when a scrape fails; what is counted over a window is not.
      const isSeen = age <= BLIND_INTERVALS * interval && (up || windowOf(rule.signal) !== undefined)
      return isSeen ? { ...seen, judged: { now, previousGood: undefined } } : undefined
    }
  })
}

function readingOf(rule: Rule, look: Look): Reading | undefined {
  if (windowOf(rule.signal) === undefined) return undefined
  return read(rule, look, monthOf, [])?.get(rule.name)
}

function valueOf({ series }: Scrape, metric: string): number | undefined {
  for (const [name, value] of series) if (name.startsWith(`${metric}{`)) return value
  return undefined
}

function openSince(initiatedAt: number): TrackedCall {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a rule about open calls goes by no more than this
  return { initiatedAt, labels: {} } as TrackedCall
}
