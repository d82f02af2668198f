import { SEVERITIES } from '../../alerts/match-keys.ts'
import { nameOf, type LiveAlert } from '../../alerts/alert.ts'
import { hasEnded, instanceOf } from '../../alerts/notification.ts'
import type { OutboxEntry, OutboxContent } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import type { DigestMessage } from '../message.ts'
import { latestOf, type Batch, type Composed, type WaitingAlert, type WaitingChange, isKnown } from './waiting-alert.ts'

/**
 * Groups a receiver's waiting entries, the most urgent first, then the digests.
 *
 * @param entries oldest first
 */
export function group(entries: readonly OutboxEntry[], groupOf: GroupOf): (Batch | Composed)[] {
  // All changes of an alert are in the group of the latest: its rule's severity may have been edited in between.
  const groups = Map.groupBy(waitingAlerts(entries), (alert) => groupOf(latestOf(alert)).key)
  const batches = [...groups.values()].map((alerts): Batch => ({ group: groupOf(latestOf(alerts[0]!)), alerts }))
  const urgency = ({ alerts }: Batch) => Math.min(...alerts.map(urgencyOf))
  return [...batches.toSorted((a, b) => urgency(a) - urgency(b)), ...digestIn(entries)]
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
  const lives = new Map(alerts.map((live) => [nameOf({ target: live.target, key: live.instance.key }), live]))
  for (const change of waitingAlerts(entries).map(latestOf)) {
    const live = lives.get(nameOf(change))
    if (hasEnded(change)) {
      if (live !== undefined && (live.instance.firingSince ?? Infinity) <= change.firingSince)
        lives.delete(nameOf(change))
    } else if (live === undefined || live.instance.state === 'pending') {
      lives.set(nameOf(change), { target: change.target, instance: instanceOf(change) })
    }
  }
  return [...lives.values()]
}

/** If the digests of several days wait, only the last one is sent. */
function digestIn(all: readonly OutboxEntry[]): Composed[] {
  const entries = all.filter(({ content }) => content.kind === 'digest')
  const [message] = entries.slice(-1).flatMap(({ content }) => (content.kind === 'digest' ? content.digest : []))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- enqueued by daily-digest.ts only
  return message === undefined ? [] : [{ subject: DIGESTS, entries, message: message as DigestMessage }]
}

/** Groups the entries by alert. */
export function waitingAlerts(entries: readonly OutboxEntry[]): WaitingAlert[] {
  const all = entries.filter((entry): entry is WaitingChange => entry.content.kind !== 'digest')
  return [...Map.groupBy(all, ({ content }) => nameOf(content)).values()].map((own) => ({ entries: own }))
}
