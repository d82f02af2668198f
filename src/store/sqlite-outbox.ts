import type { DatabaseSync } from 'node:sqlite'
import type { OutboxEntry, Outgoing } from './store.ts'

/** The outbox's rows. Nothing here begins a transaction: whoever writes several rows does. */
export function sqliteOutbox(db: DatabaseSync) {
  const statements = {
    put: db.prepare('INSERT INTO outbox (notifier, data) VALUES (?, ?)'),
    name: db.prepare("INSERT OR IGNORE INTO put_out (name, at) VALUES (?, unixepoch('now'))"),
    read: db.prepare('SELECT id, claimed, data FROM outbox WHERE notifier = ? ORDER BY id'),
    claim: db.prepare('UPDATE outbox SET claimed = ? WHERE id = ?'),
    remove: db.prepare('DELETE FROM outbox WHERE id = ?'),
    count: db.prepare('SELECT notifier, count(*) AS n FROM outbox GROUP BY notifier'),
  }
  const put = (content: Outgoing, notifiers: readonly string[]): void => {
    for (const notifier of notifiers) statements.put.run(notifier, JSON.stringify(content))
  }
  return {
    /** Puts something out once for each notifier. */
    put,
    /** The same, but nothing where something was put out under that name before. */
    putOnce: (name: string, content: Outgoing, notifiers: readonly string[]): void => {
      if (statements.name.run(name).changes === 1) put(content, notifiers)
    },
    /** All that waits for a notifier, the oldest first. */
    read: (notifier: string): OutboxEntry[] =>
      statements.read.all(notifier).map(({ id, claimed, data }) => ({
        id: Number(id),
        claimed: claimed === 1,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by put only
        content: JSON.parse(String(data)) as Outgoing,
      })),
    claim: (ids: readonly number[], claimed: boolean): void => {
      for (const id of ids) statements.claim.run(claimed ? 1 : 0, id)
    },
    remove: (ids: readonly number[]): void => {
      for (const id of ids) statements.remove.run(id)
    },
    /** How much waits, by notifier. */
    count: (): ReadonlyMap<string, number> =>
      new Map(statements.count.all().map(({ notifier, n }) => [String(notifier), Number(n)])),
  }
}
