import type { LoggedEvents, Store } from '../store/store.ts'

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
