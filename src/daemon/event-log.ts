import { exhaustMap, filter, ignoreElements, merge, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { readCursor } from '../events/cursor.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'

export type EventLogOptions = {
  store: Store
  clock: Clock
  ownership: Pick<Ownership, 'isLeader'>
  /** How long events are kept (seconds), counted back from `retentionNow` (UNIX seconds), if that is known. */
  retention: number
  retentionNow: () => number | undefined
  /** Whether they may have participants. */
  participants: boolean
  draining$: Observable<unknown>
}

/** Seconds between two times that events get their positions, and that expired ones are deleted. */
const NUMBERING_INTERVAL_SECONDS = 1
const DELETION_INTERVAL_SECONDS = 10

/** Keeps the log of events in order while this daemon is the leader; emits nothing. What fails now is done the next time. */
export function eventLog({
  store,
  clock,
  ownership,
  retention,
  retentionNow,
  participants,
  draining$,
}: EventLogOptions): Observable<never> {
  const each = (seconds: number, work: () => Promise<void>) =>
    timer(0, seconds * 1000, clock.scheduler).pipe(
      takeUntil(draining$),
      filter(ownership.isLeader),
      exhaustMap(() => work().catch(onlyStoreErrors(undefined))),
    )
  return merge(
    each(NUMBERING_INTERVAL_SECONDS, async () => store.cluster?.numberEvents()),
    each(DELETION_INTERVAL_SECONDS, async () => {
      // Also what another daemon has added before it reloaded the configuration.
      if (!participants) await store.eraseParticipants()
      const now = retentionNow()
      if (now !== undefined) await store.deleteEvents(now - retention, await neededFrom(store))
    }),
  ).pipe(ignoreElements())
}

/** The first position that a webhook needs: what it leaves undelivered, it counts first. */
async function neededFrom(store: Pick<Store, 'webhooks'>): Promise<number> {
  const configured = (await store.webhooks()).filter(({ progress }) => progress.removedAt === undefined)
  const positions = configured.flatMap(({ progress, oldest }) => [
    readCursor(progress.cursor)?.position ?? 0,
    oldest?.position ?? Infinity,
  ])
  return Math.min(Number.MAX_SAFE_INTEGER, ...positions)
}
