import type { DatabaseSync } from 'node:sqlite'
import { storedWebhookOf, undeliveredColumns, undeliveredOf } from '../rows.ts'
import { transaction } from './transaction.ts'
import type { StoredWebhook, UndeliveredEvent, WebhookStore, WebhookChange } from '../webhook-store.ts'

type WebhooksIn = {
  webhooks: () => StoredWebhook[]
  undelivered: (...query: Parameters<WebhookStore['undelivered']>) => UndeliveredEvent[]
  saveWebhook: (change: WebhookChange) => boolean
}

/** The webhooks of a database, which are saved in transactions. */
export function webhooksIn(db: DatabaseSync, inTransaction = <T>(work: () => T) => transaction(db, work)): WebhooksIn {
  function save({ name, revision, progress, put = [], remove = [], removeFrom }: WebhookChange): boolean {
    const data = JSON.stringify(progress)
    const saved =
      progress === undefined
        ? db.prepare('DELETE FROM webhooks WHERE name = ? AND revision = ?').run(name, revision)
        : revision === 0
          ? db
              .prepare('INSERT INTO webhooks (name, revision, data) VALUES (?, 1, ?) ON CONFLICT DO NOTHING')
              .run(name, data)
          : db
              .prepare('UPDATE webhooks SET revision = revision + 1, data = ? WHERE name = ? AND revision = ?')
              .run(data, name, revision)
    if (saved.changes !== 1) return false
    const deleteFrom = db.prepare(
      'DELETE FROM undelivered WHERE webhook = ? AND dead IN (0, 1) AND (position, place) >= (?, ?)',
    )
    if (progress === undefined) deleteFrom.run(name, 0, 0)
    if (removeFrom !== undefined) deleteFrom.run(name, removeFrom.position, removeFrom.place)
    const deleteOne = db.prepare(
      'DELETE FROM undelivered WHERE webhook = ? AND dead IN (0, 1) AND position = ? AND place = ?',
    )
    for (const { position, place } of [...remove, ...put]) deleteOne.run(name, position, place)
    const write = db.prepare('INSERT INTO undelivered (webhook, position, place, dead, data) VALUES (?, ?, ?, ?, ?)') // oxfmt-ignore
    for (const event of put) {
      const { position, place, dead, data } = undeliveredColumns(event)
      write.run(name, position, place, Number(dead), data)
    }
    return true
  }

  return {
    webhooks: () =>
      db
        .prepare(
          `SELECT name, revision, webhooks.data,
            (SELECT count(*) FROM undelivered WHERE webhook = name AND dead = 0) AS waiting,
            (SELECT count(*) FROM undelivered WHERE webhook = name AND dead = 1) AS dead,
            (SELECT data FROM undelivered WHERE webhook = name AND dead = 0 ORDER BY position, place LIMIT 1) AS first,
            (SELECT min(position) FROM undelivered WHERE webhook = name AND dead = 0) AS first_position
          FROM webhooks ORDER BY name`,
        )
        .all()
        .map(storedWebhookOf),
    undelivered: (webhook, { dead, after, limit }) =>
      db
        .prepare(
          `SELECT position, place, dead, data FROM undelivered
          WHERE webhook = ? AND dead = ? AND (position, place) > (?, ?) ORDER BY position, place LIMIT ?`,
        )
        .all(webhook, Number(dead), after.position, after.place, limit)
        .map(undeliveredOf),
    saveWebhook: (change) => inTransaction(() => save(change)),
  }
}
