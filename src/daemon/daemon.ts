import { catchError, concat, concatMap, connect, defer, EMPTY, endWith, ignoreElements, map, merge } from 'rxjs'
import { takeUntil, tap, throwError, type Observable } from 'rxjs'
import { StoreError } from '../store/store-error.ts'
import { checkForDamage } from './check-for-damage.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { eventWebhooks } from './event-webhooks.ts'
import { initialSyncs } from './initial-syncs.ts'
import { runJobs, type Job } from './jobs.ts'
import { notifying } from './notifying/notifying.ts'
import { openParts } from './open-parts.ts'
import type { DaemonOptions } from './daemon-options.ts'
import { reloads } from './reload.ts'
import { rollups } from './rollups.ts'

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

/** Changes within this time are logged together (seconds). */
const LOG_SECONDS = 5

/**
 * Opens all parts of a daemon and connects them. When the configuration changes, only the parts whose settings changed
 * restart.
 *
 * @throws {StoppedError} if it must stop before the store is open
 * @throws {StoreError} if the store cannot be used
 * @throws {QueryError} if neither the configuration nor the store has the target to reset
 * @throws {Error} with a `code` if the web server cannot listen on its address
 */
export async function startDaemon(options: DaemonOptions) {
  const { readings$ = EMPTY } = options
  const parts = await openParts(options)
  const { targets, ownership, overviews, hints, retention, health, web } = parts
  const { config$, reloads$ } = reloads(parts, readings$)
  const common = { ...parts, retentionNow: retention.now }
  const jobs: Job[] = [
    { every: LOG_SECONDS, leaderOnly: false, run: async () => [{ kind: 'time' }] },
    retention.job,
    initialSyncs(targets),
    rollups(common),
  ]
  const clusterJobs: Job[] = [
    ...overviews.jobs,
    { every: 1, first: 0, leaderOnly: false, run: targets.replicatePauses },
  ]

  /** Polls and sends notifications. */
  const work$ = merge(targets.run(config$), notifying(parts, config$), eventWebhooks(common, config$))
  /** Keeps the leases while anything is polled or sent. */
  const cluster$ = (ended$: Observable<unknown>) =>
    merge(
      ownership.run(ended$).pipe(map((event): DaemonEvent => ({ kind: 'ownership', event }))),
      parts.store.cluster === undefined ? EMPTY : runJobs(clusterJobs, { ...common, draining$: ended$ }),
      hints.received$.pipe(takeUntil(ended$), ignoreElements()),
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
    /** The page's address. */
    url: web.url,
    targets,
    /** Runs the daemon while it is subscribed to. Subscribe once. Completes when everything is closed after `draining$`. */
    events$: concat(reported$, closed$).pipe(
      // If the store refuses to work, the daemon must end, and nothing may keep the process alive. A bug ends the process as
      // it is.
      catchError((error: unknown) =>
        concat(
          error instanceof StoreError ? closed$ : EMPTY,
          throwError(() => error),
        ),
      ),
    ),
  }
}
