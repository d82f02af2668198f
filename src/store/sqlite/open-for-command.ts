import type { CommandStore } from '../store.ts'
import { eventsIn } from './events.ts'
import { openExisting } from './open-database.ts'
import { silencesIn } from './silences.ts'
import { attempting } from './sqlite-error.ts'
import { webhooksIn } from './webhooks.ts'

/**
 * Opens a store while a daemon may be using it, without its lock.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSqliteForCommand(path: string): CommandStore {
  const db = openExisting(path, { readOnly: false })
  const { answer } = attempting(path)
  const { silences, addSilence, editSilence, expireSilence } = silencesIn(db)
  const { events, latestEvents } = eventsIn(db)
  const { webhooks, undelivered, saveWebhook } = webhooksIn(db)
  return {
    silences: (now) => answer(() => silences(now)),
    addSilence: (silence) => answer(() => addSilence(silence)),
    editSilence: (silence, now) => answer(() => editSilence(silence, now)),
    expireSilence: (id, now) => answer(() => expireSilence(id, now)),
    events: (position, most) => answer(() => events(position, most)),
    latestEvents: (most) => answer(() => latestEvents(most)),
    webhooks: () => answer(webhooks),
    undelivered: (webhook, query) => answer(() => undelivered(webhook, query)),
    saveWebhook: (change) => answer(() => saveWebhook(change)),
    close: () => answer(() => db.close()),
  }
}
