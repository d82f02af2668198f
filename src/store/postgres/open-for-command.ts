import type { CommandStore } from '../store.ts'
import { connectForCommand } from './connect-for-command.ts'
import { eventsFrom, latestEvents } from './events.ts'
import { postgresSilences } from './silences.ts'
import { transaction } from './transaction.ts'
import { postgresWebhooks } from './webhooks.ts'

/**
 * Opens a store while daemons use it.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it refuses connections
 */
export async function openPostgresForCommand(url: string): Promise<CommandStore> {
  const session = await connectForCommand(url)
  return {
    ...postgresSilences(session),
    ...postgresWebhooks(session, (work) => transaction(session, work)),
    events: (position, most) => eventsFrom(session, position, most),
    latestEvents: (most) => latestEvents(session, most),
    close: session.close,
  }
}
