import type { StoreBeside } from '../store.ts'
import { connectBeside } from './connect-beside.ts'
import { eventsFrom, latestEvents } from './events.ts'
import { postgresSilences } from './silences.ts'
import { transaction } from './transaction.ts'
import { postgresWebhooks } from './webhooks.ts'

/**
 * Opens a store beside the daemons that use it.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it refuses connections
 */
export async function openPostgresBeside(url: string): Promise<StoreBeside> {
  const session = await connectBeside(url)
  return {
    ...postgresSilences(session),
    ...postgresWebhooks(session, (work) => transaction(session, work)),
    events: (position, most) => eventsFrom(session, position, most),
    latestEvents: (most) => latestEvents(session, most),
    close: session.close,
  }
}
