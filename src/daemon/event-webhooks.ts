import {
  combineLatest,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import type { WebhookEvent } from '../events/webhooks/webhook-event.ts'
import { shownLog } from '../events/shown-log.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { runWhile } from '../pipeline/run-while.ts'

export type EventWebhooksOptions = {
  config$: Observable<Config>
  store: Store
  clock: Clock
  random: () => number
  ownership: Pick<Ownership, 'isLeader' | 'isLeader$'>
  /** From when ages are counted (UNIX seconds); undefined while that is not known. */
  retentionNow: () => number | undefined
  draining$: Observable<unknown>
}

const UPKEEP_INTERVAL_SECONDS = 10

/** Delivers events to all webhooks while this daemon is the leader. A reload of `events` lets what is under way end first. */
export function eventWebhooks(options: EventWebhooksOptions): Observable<WebhookEvent> {
  const { config$, store, clock, random, ownership, retentionNow, draining$: daemonDraining$ } = options
  const { isLeader } = ownership
  const part$ = combineLatest([
    config$.pipe(map(({ events }) => events)),
    ownership.isLeader$.pipe(takeUntil(daemonDraining$)),
  ])
  return runWhile(part$, ([{ webhooks, retention, participants }, leads], settingsDraining$) => {
    if (!leads) return EMPTY
    const draining$ = merge(settingsDraining$, daemonDraining$)
    const expiredBefore = () => (retentionNow() ?? -Infinity) - retention
    const shown = { ...store, ...shownLog(store, () => participants) }
    const names = webhooks.map(({ name }) => name)
    const upkeep$ = timer(0, UPKEEP_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
      takeUntil(draining$),
      filter(isLeader),
      exhaustMap(() => markRemoved(store, names, clock.wall(), expiredBefore()).catch(onlyStoreErrors(undefined))),
      ignoreElements(),
    )
    const delivered$ = defer(deliveries).pipe(
      mergeMap(({ deliverEvents, eventPoster }) =>
        merge(
          ...webhooks.map((webhook) => {
            const post = eventPoster(webhook, { clock })
            return deliverEvents({ webhook, post, store: shown, clock, random, expiredBefore, isLeader, draining$ })
          }),
        ),
      ),
    )
    return merge(upkeep$, webhooks.length === 0 ? EMPTY : delivered$)
  })
}

/** Loaded where there is a webhook: the client for HTTP takes memory. */
async function deliveries() {
  const { deliverEvents } = await import('../events/webhooks/deliver-events.ts')
  const { eventPoster } = await import('../events/webhooks/post-event.ts')
  return { deliverEvents, eventPoster }
}

/** A webhook that was removed from the configuration continues where it was if it is added again within the retention. */
async function markRemoved(
  store: Pick<Store, 'webhooks' | 'saveWebhook'>,
  names: readonly string[],
  now: number,
  expiredBefore: number,
): Promise<void> {
  for (const { name, revision, progress } of await store.webhooks()) {
    const { removedAt } = progress
    if (names.includes(name)) continue
    if (removedAt === undefined) await store.saveWebhook({ name, revision, progress: { ...progress, removedAt: now } })
    else if (removedAt < expiredBefore) await store.saveWebhook({ name, revision, progress: undefined })
  }
}
