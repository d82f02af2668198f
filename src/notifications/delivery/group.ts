import { SEVERITIES } from '../../alerts/match-keys.ts'
import { nameOf, type LiveAlert } from '../../alerts/alert.ts'
import { hasEnded, instanceOf } from '../../alerts/notification.ts'
import type { OutboxEntry, OutboxContent } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import type { DigestMessage } from '../message.ts'
import { latestOf, type Batch, type Composed, type WaitingAlert } from './batch.ts'
import { isKnown } from './merge-changes.ts'

/**
 * Groups a receiver's waiting entries, the most urgent first, then the digests.
 *
 * @param entries oldest first
 */
export function group(entries: readonly OutboxEntry[], groupOf: GroupOf): (Batch | Composed)[] {
  const latest = new Map(entries.map(({ content }) => [alertOf(content), content]))
  // All changes of an alert are in the group of the latest: its rule's severity may have been edited in between.
  const groups = Map.groupBy(entries, ({ content }) => {
    const last = latest.get(alertOf(content))!
    return last.kind === 'digest' ? DIGESTS : groupOf(last).key
  })
  return [...groups]
    .map(([key, together]): { batch: Batch | Composed; urgency: number } => {
      if (key === DIGESTS) return { batch: digestOf(together), urgency: Infinity }
      const alerts = waitingAlerts(together)
      const urgency = Math.min(...alerts.map(urgencyOf))
      return { batch: { group: groupOf(latestOf(alerts[0]!)), alerts }, urgency }
    })
    .toSorted((a, b) => a.urgency - b.urgency)
    .map(({ batch }) => batch)
}

/** Alerts that fire come first, then known ones that have ended, then those that came and went. */
function urgencyOf(alert: WaitingAlert): number {
  const change = latestOf(alert)
  return SEVERITIES.indexOf(change.severity) + (hasEnded(change) ? (isKnown(alert) ? 10 : 20) : 0)
}

const DIGESTS = 'digests'

/** Identifies the alert of an entry. */
export function alertOf(content: OutboxContent): string {
  return content.kind === 'digest' ? DIGESTS : nameOf(content)
}

/** The alerts as they are, or as a change that waits says: other daemons may show an alert later than its change is in the outbox. */
export function withWaiting(alerts: readonly LiveAlert[], entries: readonly OutboxEntry[]): LiveAlert[] {
  const latest = new Map(
    entries.flatMap(({ content }) => (content.kind === 'digest' ? [] : [[alertOf(content), content] as const])),
  )
  const nameOfLive = ({ target, instance: { key } }: LiveAlert) => nameOf({ target, key })
  const isOver = (live: LiveAlert) => {
    const change = latest.get(nameOfLive(live))
    return change !== undefined && hasEnded(change) && (live.instance.firingSince ?? Infinity) <= change.firingSince
  }
  const known = alerts.filter((live) => !isOver(live))
  const firing = new Set(known.filter(({ instance }) => instance.state !== 'pending').map(nameOfLive))
  const missing = [...latest.values()].filter((change) => !hasEnded(change) && !firing.has(alertOf(change)))
  const added = missing.map((change) => ({ target: change.target, instance: instanceOf(change) }))
  const replaced = new Set(added.map(nameOfLive))
  return [...known.filter((live) => !replaced.has(nameOfLive(live))), ...added]
}

/** If the digests of several days wait, only the last one is sent. */
function digestOf(entries: readonly OutboxEntry[]): Composed {
  const digests = entries.flatMap(({ content }) => (content.kind === 'digest' ? content.digest : []))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- enqueued by daily-digest.ts only
  return { subject: DIGESTS, entries, message: digests.at(-1) as DigestMessage }
}

/** Groups the entries by alert. */
export function waitingAlerts(entries: readonly OutboxEntry[]): WaitingAlert[] {
  const all = entries.flatMap((entry) => (entry.content.kind === 'digest' ? [] : { entry, change: entry.content }))
  return [...Map.groupBy(all, ({ change }) => alertOf(change)).values()].map((own) => ({
    entries: own.map(({ entry }) => entry),
    changes: own.map(({ change }) => change),
  }))
}
