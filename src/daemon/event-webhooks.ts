import { defer, map, merge, mergeMap, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import { readCursor } from '../events/cursor.ts'
import type { Store } from '../store/store.ts'
import { shownLog } from '../events/read-events.ts'
import { runWhile } from '../rx/run-while.ts'
import { runJobs, type Job } from './jobs.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { DaemonParts } from './parts.ts'

/** An event that is dated further ahead has the time of a wrong clock (seconds). */
const MOST_AHEAD_SECONDS = 86_400

type EventLogOptions = Pick<DaemonParts, 'store' | 'clock'> & {
  config: () => Pick<Config, 'events'>
  /** The time from which ages are counted (UNIX seconds); undefined if unknown. */
  retentionNow: () => number | undefined
}

/** Maintains the log of events and the stored state of its webhooks. */
export function eventLogJobs({ store, clock, config, retentionNow }: EventLogOptions): Job[] {
  async function deleteExpired(): Promise<void> {
    const { participants, retention } = config().events
    // This also erases participants that another daemon added before it reloaded its configuration.
    if (!participants) await store.eraseParticipants()
    const now = retentionNow()
    if (now !== undefined) await store.deleteEvents(now - retention, await neededFrom(store), now + MOST_AHEAD_SECONDS)
  }

  /**
   * Marks webhooks that were removed from the configuration. A webhook that is added again within the retention continues
   * where it stopped.
   */
  async function markRemoved(): Promise<void> {
    const { webhooks, retention } = config().events
    const names = webhooks.map(({ name }) => name)
    const expiredBefore = (retentionNow() ?? -Infinity) - retention
    for (const { name, revision, progress } of await store.webhooks()) {
      const { removedAt } = progress
      if (names.includes(name)) continue
      if (removedAt === undefined)
        await store.saveWebhook({ name, revision, progress: { ...progress, removedAt: clock.wall() } })
      else if (removedAt < expiredBefore) await store.saveWebhook({ name, revision, progress: undefined })
    }
  }

  return [
    { every: 1, first: 0, leaderOnly: true, run: async () => store.cluster?.numberEvents() },
    { every: 10, first: 0, leaderOnly: true, run: deleteExpired },
    { every: 10, first: 0, leaderOnly: true, run: markRemoved },
  ]
}

/** The first position that a webhook still needs: it counts the events that expire before it has delivered them. */
async function neededFrom(store: Pick<Store, 'webhooks'>): Promise<number> {
  const configured = (await store.webhooks()).filter(({ progress }) => progress.removedAt === undefined)
  const positions = configured.flatMap(({ progress, oldest }) => [
    readCursor(progress.cursor)?.position ?? 0,
    oldest?.position ?? Infinity,
  ])
  return Math.min(Number.MAX_SAFE_INTEGER, ...positions)
}

/**
 * Maintains the log of events, and delivers events to all webhooks while this daemon is the leader. After a reload of
 * `events` or of names of targets, requests in flight end first.
 */
export function eventWebhooks(
  options: DaemonParts & EventLogOptions,
  config$: Observable<Config>,
): Observable<DaemonEvent> {
  const { store, clock, ownership, retentionNow, draining$: daemonDraining$ } = options
  const { isLeader, expectLeader } = ownership
  const part$ = config$.pipe(
    // A target with another name has its events in order if webhooks read again what waits for them.
    map(({ events, targets }) => ({ events, former: targets.map(({ formerly }) => formerly) })),
  )
  return runWhile(part$, ({ events }, settingsDraining$) => {
    const { webhooks, retention, participants } = events
    const draining$ = merge(settingsDraining$, daemonDraining$)
    const upkeep$ = runJobs(eventLogJobs(options), { clock, ownership, draining$ })
    if (webhooks.length === 0) return upkeep$
    const expiredBefore = () => (retentionNow() ?? -Infinity) - retention
    const shown = { ...store, ...shownLog(store, () => participants) }
    const to = { store: shown, clock, expiredBefore, isLeader, expectLeader, draining$ }
    // Loaded only if there is a webhook, because the HTTP client needs memory.
    const delivered$ = defer(() => import('../events/webhooks/deliver-events.ts')).pipe(
      mergeMap(({ deliverEvents }) => merge(...webhooks.map((webhook) => deliverEvents({ webhook, ...to })))),
      map((event): DaemonEvent => ({ kind: 'webhook', event })),
    )
    return merge(upkeep$, delivered$)
  })
}
