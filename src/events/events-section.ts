import { z } from 'zod'
import { duration } from '../schema/duration.ts'
import { section } from '../schema/section.ts'
import { webhookSection } from './webhooks/webhook-section.ts'
import type { LoggedEvents, Store } from '../store/store.ts'

/** The section `events`. Durations are in seconds. */
export const eventsSection = section({
  retention: duration({ min: 60 })
    .prefault('7d')
    .describe('How long events are kept; a reader that is away for longer misses events'),
  participants: z
    .boolean({ error: '`true` or `false`' })
    .prefault(false)
    .describe('Whether events name the participants of calls, with their user ids; `false` erases those in the log'),
  webhooks: z.array(webhookSection).prefault([]).describe('Receivers of events: one signed request per event'),
})

type Log = Pick<Store, 'events' | 'latestEvents'>

/**
 * The log as readers may see it: without participants if events must not have them, even if the log has not erased them yet.
 */
export function shownLog(log: Log, hasParticipants: () => boolean): Log {
  const shown = (rows: LoggedEvents[]) =>
    hasParticipants() ? rows : rows.map(({ participants: _hidden, ...row }): LoggedEvents => row)
  return {
    events: async (...part) => shown(await log.events(...part)),
    latestEvents: async (most) => shown(await log.latestEvents(most)),
  }
}
