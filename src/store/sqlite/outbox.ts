import type { DatabaseSync } from 'node:sqlite'
import type { Addressed, OutboxEntry, Outgoing } from '../store.ts'

export type OutboxOptions = {
  /** All that there are; what waits for any other is removed, since nobody will ever send it. */
  notifiers?: readonly string[] | undefined
}

/** The outbox's rows. Nothing here begins a transaction: whoever writes several rows does. */
export function sqliteOutbox(db: DatabaseSync, { notifiers }: OutboxOptions) {
  const statements = {
    receivers: db.prepare('SELECT notifier FROM receivers WHERE target = ? AND alert = ?'),
    addReceiver: db.prepare('INSERT OR IGNORE INTO receivers (target, alert, notifier) VALUES (?, ?, ?)'),
    removeReceivers: db.prepare('DELETE FROM receivers WHERE target = ? AND alert = ?'),
    put: db.prepare('INSERT INTO outbox (notifier, data) VALUES (?, ?)'),
    name: db.prepare("INSERT OR IGNORE INTO put_out (name, at) VALUES (?, unixepoch('now'))"),
    read: db.prepare('SELECT id, claimed, data FROM outbox WHERE notifier = ? ORDER BY id'),
    claim: db.prepare('UPDATE outbox SET claimed = ? WHERE id = ?'),
    remove: db.prepare('DELETE FROM outbox WHERE id = ?'),
    removeAll: db.prepare('DELETE FROM outbox WHERE notifier = ?'),
    count: db.prepare('SELECT notifier, count(*) AS n FROM outbox GROUP BY notifier'),
  }
  const isThere = (notifier: string) => notifiers?.includes(notifier) ?? true
  for (const { notifier } of statements.count.all()) {
    if (!isThere(String(notifier))) statements.removeAll.run(String(notifier))
  }
  const put = (content: Outgoing, receivers: Iterable<string>): void => {
    for (const notifier of receivers) if (isThere(notifier)) statements.put.run(notifier, JSON.stringify(content))
  }
  return {
    /** Puts a change out for whom it is addressed to; an end also for whoever was to be told of its beginning. */
    putChange: ({ change, to }: Addressed): void => {
      const { target, key, kind } = change
      const receivers = new Set(to)
      if (kind === 'firing' || kind === 'reminder') {
        for (const notifier of receivers) statements.addReceiver.run(target, key, notifier)
      } else {
        for (const { notifier } of statements.receivers.all(target, key)) receivers.add(String(notifier))
        statements.removeReceivers.run(target, key)
      }
      put(change, receivers)
    },
    /** Puts something out once for each notifier, but nothing where something was put out under that name before. */
    putOnce: (name: string, content: Outgoing, receivers: readonly string[]): void => {
      if (statements.name.run(name).changes === 1) put(content, receivers)
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
