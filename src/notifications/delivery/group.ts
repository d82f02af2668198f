import type { OutboxEntry, OutboxContent } from '../../store/store.ts'
import type { DigestMessage } from '../message.ts'
import type { Batch, WaitingAlert } from './batch.ts'

/**
 * Groups a receiver's waiting entries: one batch per target and severity, and one of digests. The batch with the oldest entry
 * comes first.
 *
 * @param entries oldest first
 */
export function group(entries: readonly OutboxEntry[]): Batch[] {
  const latest = new Map(entries.map(({ content }) => [alertOf(content), content]))
  const groups = Map.groupBy(entries, ({ content }) => groupOf(latest.get(alertOf(content))!))
  return [...groups].map(([name, together]) =>
    name === DIGESTS ? digestOf(together) : { kind: 'alerts', alerts: waitingAlerts(together) },
  )
}

const DIGESTS = 'digests'

function alertOf(content: OutboxContent): string {
  return content.kind === 'digest' ? DIGESTS : JSON.stringify([content.target, content.key])
}

/**
 * All changes of an alert belong to the group of the latest one, since the rule's severity may have been edited in between.
 */
function groupOf(latest: OutboxContent): string {
  return latest.kind === 'digest' ? DIGESTS : JSON.stringify([latest.target, latest.severity])
}

/** If the digests of several days wait, only the last one is sent. */
function digestOf(entries: readonly OutboxEntry[]): Batch {
  const { content } = entries.at(-1)!
  if (content.kind !== 'digest') return { kind: 'discarded', entries }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- enqueued by daily-digest.ts only
  return { kind: 'message', entries, message: content.digest as DigestMessage }
}

/** Groups the entries by alert. */
function waitingAlerts(entries: readonly OutboxEntry[]): WaitingAlert[] {
  const all = entries.flatMap((entry) => (entry.content.kind === 'digest' ? [] : { entry, change: entry.content }))
  return [...Map.groupBy(all, ({ change }) => change.key).values()].map((own) => ({
    entries: own.map(({ entry }) => entry),
    changes: own.map(({ change }) => change),
  }))
}
