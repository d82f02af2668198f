import { nameOf, type Alert } from '../alerts/alert.ts'
import type { Incident } from '../alerts/incidents.ts'
import { parse, type RowReader } from '../store/sql.ts'

/** By the names of alerts (alert.ts), which receivers know that they fire, and when each got its latest message (UNIX seconds). */
export type NotifiedAlerts = ReadonlyMap<string, readonly { receiver: string; at: number }[]>

/** Of notifications/delivery/notified.ts Entry. */
type Told = { begun: readonly (Pick<Alert, 'target' | 'key'> & { at: number; ended?: number })[] }

/** The name of a receiver by its key in the store: that of a recipient of a mail ends with a hash of the address. */
const nameOfKey = (key: string) => key.replace(/ [\da-f]{32}$/, '')

/** @throws {StoreError} */
export async function readNotifiedAlerts({ rows }: RowReader): Promise<NotifiedAlerts> {
  const found = await rows('SELECT receiver, data FROM callwatch.notified WHERE accepted ORDER BY receiver')
  const all = found.flatMap(({ receiver, data }) =>
    parse<Told>(data).begun.flatMap((entry) =>
      entry.ended === undefined ? { name: nameOf(entry), receiver: nameOfKey(String(receiver)), at: entry.at } : [],
    ),
  )
  return Map.groupBy(all, ({ name }) => name)
}

/** Incidents with the latest message that each receiver got about one of its alerts. */
export function withMessages(incidents: readonly Incident[], notified: NotifiedAlerts): Incident[] {
  return incidents.map((incident) => {
    const latest = new Map<string, number>()
    for (const { receiver, at } of incident.firing.flatMap((alert) => notified.get(nameOf(alert)) ?? []))
      latest.set(receiver, Math.max(at, latest.get(receiver) ?? -Infinity))
    return { ...incident, messages: [...latest].map(([receiver, at]) => ({ receiver, at })) }
  })
}
