import type { DatabaseSync } from 'node:sqlite'
import { episodeRow, type EpisodeNote } from '../../alerts/episode.ts'
import { hasEnded } from '../../alerts/notification.ts'
import { outboxEntryOf } from '../rows.ts'
import type { RoutedChange, OutboxEntry, OutboxContent } from '../store.ts'

/**
 * The outbox's rows. Nothing here begins a transaction: the caller that writes several rows does.
 *
 * @param configuredReceivers what waits for any other receiver is removed; undefined keeps all
 */
export function sqliteOutbox(db: DatabaseSync, configuredReceivers: readonly string[] | undefined) {
  const statements = {
    recipients: db.prepare('SELECT receiver FROM recipients WHERE target = ? AND alert = ?'),
    addRecipient: db.prepare('INSERT OR IGNORE INTO recipients (target, alert, receiver) VALUES (?, ?, ?)'),
    removeRecipients: db.prepare('DELETE FROM recipients WHERE target = ? AND alert = ?'),
    enqueue: db.prepare('INSERT INTO outbox (receiver, data) VALUES (?, ?)'),
    useKey: db.prepare('INSERT OR IGNORE INTO deduplication_keys (key) VALUES (?)'),
    read: db.prepare('SELECT id, claimed, data FROM outbox WHERE receiver = ? ORDER BY id'),
    claim: db.prepare('UPDATE outbox SET claimed = ? WHERE id = ?'),
    remove: db.prepare('DELETE FROM outbox WHERE id = ?'),
    removeOthers: db.prepare('DELETE FROM outbox WHERE receiver NOT IN (SELECT value FROM json_each(?))'),
    // What may have been sent is claimed.
    forgetUntold: db.prepare(`
      DELETE FROM recipients WHERE receiver NOT IN (SELECT value FROM json_each(?)) AND EXISTS (
        SELECT 1 FROM outbox WHERE outbox.receiver = recipients.receiver AND claimed = 0
          AND data ->> 'kind' = 'firing' AND data ->> 'target' = target AND data ->> 'key' = alert)`),
    writeEpisode: db.prepare(`
      INSERT INTO alert_episodes (target, alert, since, until, rule, severity, data) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        until = excluded.until, rule = excluded.rule, severity = excluded.severity, data = excluded.data`),
    note: db.prepare('UPDATE alert_episodes SET notes = notes || ? WHERE target = ? AND alert = ? AND since = ?'),
    count: db.prepare('SELECT receiver, count(*) AS n FROM outbox GROUP BY receiver'),
  }
  let isConfigured = (_receiver: string) => true
  const setReceivers = (names: readonly string[]): void => {
    isConfigured = (receiver) => names.includes(receiver)
    statements.forgetUntold.run(JSON.stringify(names))
    statements.removeOthers.run(JSON.stringify(names))
  }
  if (configuredReceivers !== undefined) setReceivers(configuredReceivers)
  const enqueue = (content: OutboxContent, recipients: Iterable<string>): void => {
    for (const receiver of recipients) {
      if (isConfigured(receiver)) statements.enqueue.run(receiver, JSON.stringify(content))
    }
  }
  const note = (notes: readonly EpisodeNote[]): void => {
    for (const { target, key, since, lines } of notes) statements.note.run(lines, target, key, since)
  }
  return {
    /** Keeps changes in the history, and enqueues them for their receivers; an end for the recipients of its beginning instead. */
    enqueueChanges: (routedChanges: readonly RoutedChange[]): void => {
      for (const { change, receivers } of routedChanges) {
        const { target, key } = change
        if (hasEnded(change)) {
          for (const { receiver } of statements.recipients.all(target, key)) enqueue(change, [String(receiver)])
          statements.removeRecipients.run(target, key)
        } else {
          for (const receiver of new Set(receivers).values().filter(isConfigured)) {
            // Since the routes were edited, a reminder may be the first that it gets.
            const isFirst = statements.addRecipient.run(target, key, receiver).changes === 1
            enqueue(isFirst ? { ...change, kind: 'firing' } : change, [receiver])
          }
        }
        const { since, until, rule, severity, data } = episodeRow(change)
        statements.writeEpisode.run(target, key, since, until, rule, severity, data)
      }
    },
    /** Enqueues something for each receiver, but nothing where that deduplication key was used before. */
    enqueueOnce: (key: string, content: OutboxContent, recipients: readonly string[]): void => {
      if (statements.useKey.run(key).changes === 1) enqueue(content, recipients)
    },
    /** Removes what waits for any other receiver, now and as long as these are all that are configured. */
    setReceivers,
    /** All that waits for a receiver, the oldest first. */
    read: (receiver: string): OutboxEntry[] => statements.read.all(receiver).map(outboxEntryOf),
    claim: (ids: readonly number[], claimed: boolean): void => {
      for (const id of ids) statements.claim.run(claimed ? 1 : 0, id)
    },
    /** Removes entries, and adds notes where any was there. */
    remove: (ids: readonly number[], notes: readonly EpisodeNote[] = []): void => {
      const removed = ids.map((id) => Number(statements.remove.run(id).changes))
      if (removed.some((changes) => changes > 0)) note(notes)
    },
    note,
    /** How much waits, by receiver. */
    count: (): Map<string, number> =>
      new Map(statements.count.all().map(({ receiver, n }) => [String(receiver), Number(n)])),
  }
}
