import { defer, map, merge, mergeMap, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import { shownLog } from '../events/shown-log.ts'
import { runWhile } from '../pipeline/run-while.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { eventLog, type EventLogOptions } from './event-log.ts'
import { runJobs } from './jobs.ts'
import type { Common } from './open-parts.ts'

/**
 * Maintains the log of events, and delivers events to all webhooks while this daemon is the leader. After a reload of
 * `events`, requests in flight end first.
 */
export function eventWebhooks(options: Common & EventLogOptions, config$: Observable<Config>): Observable<DaemonEvent> {
  const { store, clock, random, ownership, retentionNow, draining$: daemonDraining$ } = options
  const { isLeader } = ownership
  return runWhile(config$.pipe(map(({ events }) => events)), (events, settingsDraining$) => {
    const { webhooks, retention, participants } = events
    const draining$ = merge(settingsDraining$, daemonDraining$)
    const upkeep$ = runJobs(eventLog(options), { clock, ownership, draining$ })
    if (webhooks.length === 0) return upkeep$
    const expiredBefore = () => (retentionNow() ?? -Infinity) - retention
    const shown = { ...store, ...shownLog(store, () => participants) }
    const delivered$ = defer(deliveries).pipe(
      mergeMap(({ deliverEvents, eventPoster }) =>
        merge(
          ...webhooks.map((webhook) => {
            const post = eventPoster(webhook, { clock })
            return deliverEvents({ webhook, post, store: shown, clock, random, expiredBefore, isLeader, draining$ })
          }),
        ),
      ),
      map((event): DaemonEvent => ({ kind: 'webhook', event })),
    )
    return merge(upkeep$, delivered$)
  })
}

/** Loaded only if there is a webhook, because the HTTP client needs memory. */
async function deliveries() {
  const { deliverEvents } = await import('../events/webhooks/deliver-events.ts')
  const { eventPoster } = await import('../events/webhooks/post-event.ts')
  return { deliverEvents, eventPoster }
}
