import { START } from '../../../src/events/cursor.ts'
import type { Store } from '../../../src/store/store.ts'
import { readLog, type KnownEvent } from './event-problems.ts'

/**
 * What is wrong with the events that a receiver processed, those that it knew already left out: one of the log that never
 * came, one that is not in the log, or one that came before an earlier one of its call.
 *
 * @param left ids of events that need not have come yet
 */
export function deliveryProblems(
  log: readonly KnownEvent[],
  processed: readonly KnownEvent[],
  left: ReadonlySet<string> = new Set(),
): string[] {
  const problems: string[] = []
  const places = new Map(log.map(({ id }, place) => [id, place]))
  const known = new Set<string>()
  const last = new Map<string, number>()
  for (const { id, source, subject } of processed) {
    if (known.has(id)) continue
    known.add(id)
    const place = places.get(id)
    if (place === undefined) {
      problems.push(`the webhook got ${id}, which is not in the log`)
      continue
    }
    const series = `${source} ${subject ?? ''}`
    if (place < (last.get(series) ?? -1)) problems.push(`the webhook got ${id} of ${series} after a later event`)
    last.set(series, place)
  }
  const missing = log.filter(({ id }) => !known.has(id) && !left.has(id))
  if (missing.length > 0) problems.push(`the webhook did not get ${missing.length} events, such as ${missing[0]!.id}`)
  return problems
}

/** The ids of events that the store lists as undelivered to a webhook, or that come after its cursor. */
export async function leftBy(
  store: Pick<Store, 'events' | 'latestEvents' | 'webhooks' | 'undelivered'>,
  name: string,
): Promise<Set<string>> {
  const known = (await store.webhooks()).find((webhook) => webhook.name === name)
  const undelivered = await store.undelivered(name, { dead: false, after: START, limit: 10_000 })
  const unread = await readLog(store, known?.progress.cursor)
  return new Set([...undelivered.map(({ id, place }) => `${id}-${place}`), ...unread.map(({ id }) => id)])
}
