import { catchError, concat, concatMap, connect, defer, EMPTY, endWith, ignoreElements, map, merge } from 'rxjs'
import { tap, throwError, type Observable } from 'rxjs'
import type { Targets } from '../pipeline/lifecycle.ts'
import { StoreError } from '../store/store-error.ts'
import { checkForDamage } from './check-for-damage.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { eventWebhooks } from './event-webhooks.ts'
import { initialSyncs } from './initial-syncs.ts'
import { runJobs, type Job } from './jobs.ts'
import { digests, notifying } from './notifying.ts'
import { openParts, type DaemonOptions } from './open-parts.ts'
import { reloads } from './reload.ts'
import { rollups } from './rollups.ts'

export type Daemon = {
  /** Where the page is. */
  url: string
  targets: Targets
  /** Everything that the daemon does while this is subscribed to, once; completes when all is closed after `draining$`. */
  events$: Observable<DaemonEvent>
}

/** What changes within so many seconds is logged together. */
const LOG_SECONDS = 5

/**
 * Opens all parts of a daemon, and wires them together. When the configuration changes, only the parts whose settings have
 * changed restart.
 *
 * @throws {StoreError} when the store cannot be used
 * @throws {QueryError} when neither the configuration nor the store has the target to reset
 * @throws {Error} with a `code` when the web address cannot be listened on
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { readings$ = EMPTY } = options
  const parts = await openParts(options)
  const { targets, ownership, overviews, retention, health, web } = parts
  const { config$, reloads$ } = reloads(parts, readings$)
  const common = { ...parts, retentionNow: retention.now }
  const jobs: Job[] = [
    { every: LOG_SECONDS, leaderOnly: false, run: async () => [{ kind: 'time' }] },
    retention.job,
    initialSyncs(targets),
    rollups(common),
    digests(parts),
  ]
  const clusterJobs: Job[] = [
    ...overviews.jobs,
    { every: 1, first: 0, leaderOnly: false, run: targets.replicatePauses },
  ]

  /** Polls and sends. */
  const work$ = merge(targets.run(config$), notifying(parts, config$), eventWebhooks(common, config$))
  /** Keeps the leases for as long as anything is asked or sent. */
  const cluster$ = (ended$: Observable<unknown>) =>
    merge(
      ownership.run(ended$).pipe(map((event): DaemonEvent => ({ kind: 'ownership', event }))),
      parts.store.cluster === undefined ? EMPTY : runJobs(clusterJobs, { ...common, draining$: ended$ }),
    )
  const all$ = merge(
    work$.pipe(connect((shared$) => merge(shared$, cluster$(shared$.pipe(ignoreElements(), endWith(undefined)))))),
    reloads$.pipe(map((reload): DaemonEvent => ({ kind: 'reload', reload }))),
    runJobs(jobs, common),
    checkForDamage(common),
  )
  const reported$ = all$.pipe(
    concatMap(health.follow),
    tap(overviews.note),
    endWith({ kind: 'stopped' } as const),
    tap(parts.report),
  )
  const closed$ = defer(parts.close).pipe(ignoreElements())
  return {
    url: web.url,
    targets,
    events$: concat(reported$, closed$).pipe(
      // A store that is refused ends the daemon, and nothing may keep the process. A bug ends the process as it is.
      catchError((error: unknown) =>
        concat(
          error instanceof StoreError ? closed$ : EMPTY,
          throwError(() => error),
        ),
      ),
    ),
  }
}
