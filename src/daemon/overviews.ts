import {
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  takeUntil,
  takeWhile,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { ClusterStore } from '../store/cluster-store.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import { readOverview, writeOverview, type OtherTarget, type Overview } from '../web/overview.ts'
import type { DaemonEvent } from './daemon-event.ts'

export type OverviewsOptions = {
  cluster: ClusterStore | undefined
  clock: Clock
  targets: Targets
  ownership: Pick<Ownership, 'ownerOf' | 'problem'>
}

/** What this daemon knows of the targets that others own. */
export type Overviews = {
  /** Those of them of which an overview was read. */
  others: () => readonly OtherTarget[]
  /** Whether each target is loaded, or has an overview; true at the latest a minute after the start. */
  isComplete$: Observable<boolean>
  /**
   * Until `aborted$`, writes overviews of the own targets for the other daemons, and reads what these have written.
   *
   * @param own$ what this daemon does: what changes an overview
   */
  exchange: (own$: Observable<DaemonEvent>, aborted$: Observable<unknown>) => Observable<DaemonEvent>
}

/** Seconds between two times that overviews are written and read. */
const EXCHANGE_INTERVAL_SECONDS = 1
/** Overviews that are written in one statement: making them takes the event loop's time. */
const WRITTEN_TOGETHER = 50
/** After so many seconds a target that no daemon has loaded does not delay the notifications of others any more. */
const INCOMPLETE_SECONDS = 60
/** What changes an overview, beside commits. */
const CHANGES: ReadonlySet<DaemonEvent['kind']> = new Set(['polled', 'skipped', 'progress', 'internal error'])

export function newOverviews({ cluster, clock, targets, ownership }: OverviewsOptions): Overviews {
  if (cluster === undefined) return { others: () => [], isComplete$: of(true), exchange: () => EMPTY }
  const known = new Map<string, Overview>()
  /** Own targets whose overview is not written yet. */
  const changed = new Set<string>()
  /** Bugs that are not reported yet. */
  const failed: DaemonEvent[] = []
  let cursor: string | undefined

  function note(event: DaemonEvent): void {
    if (event.kind === 'committed') changed.add(event.committed.target)
    else if (CHANGES.has(event.kind) && 'target' in event) changed.add(event.target)
    // Rules and intervals are shown as well.
    else if (event.kind === 'reload') for (const name of targets.owned()) changed.add(name)
    else if (event.kind === 'ownership' && event.event.kind === 'acquired') {
      for (const name of event.event.targets) changed.add(name)
    }
  }

  /** Writes what has changed, the earliest change first; returns the bugs that it met. */
  async function write(): Promise<DaemonEvent[]> {
    const loaded = new Map(targets.loaded().map((target) => [target.name, target]))
    const due = [...changed].filter((name) => loaded.has(name))
    for (let i = 0; i < due.length; i += WRITTEN_TOGETHER) {
      const texts = new Map<string, string>()
      for (const name of due.slice(i, i + WRITTEN_TOGETHER)) {
        changed.delete(name)
        try {
          texts.set(name, writeOverview(loaded.get(name)!, clock.wall()))
        } catch (error) {
          failed.push({ kind: 'overview failed', target: name, error })
        }
      }
      try {
        await cluster!.publish(texts)
      } catch (error) {
        for (const name of texts.keys()) changed.add(name)
        throw error
      }
    }
    return failed.splice(0)
  }

  async function read(): Promise<void> {
    const recent = await cluster!.overviewsSince(cursor)
    cursor = recent.cursor
    const named = new Set(targets.all())
    for (const [name, text] of recent.overviews) {
      const overview = readOverview(text)
      if (overview !== undefined && named.has(name)) known.set(name, overview)
    }
    for (const name of known.keys()) if (!named.has(name)) known.delete(name)
  }

  function isComplete(): boolean {
    const loaded = new Set(targets.loaded().map(({ name }) => name))
    return cursor !== undefined && targets.all().every((name) => loaded.has(name) || known.has(name))
  }

  const eachSecond = (work: () => Promise<DaemonEvent[]>) =>
    timer(0, EXCHANGE_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
      exhaustMap(() => work().catch(onlyStoreErrors([]))),
      mergeMap((events) => events),
    )

  return {
    others: () => {
      const loaded = new Set(targets.loaded().map(({ name }) => name))
      const loading = new Map(targets.loading().map(({ name, problem }) => [name, problem]))
      const unowned = ownership.problem() ?? 'no daemon owns it at the moment'
      return targets.all().flatMap((name) => {
        const overview = loaded.has(name) ? undefined : known.get(name)
        if (overview === undefined) return []
        const owner = ownership.ownerOf(name)
        return [{ ...overview, name, owner, problem: owner === undefined ? unowned : loading.get(name) }]
      })
    },
    isComplete$: timer(0, EXCHANGE_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
      map((seconds) => seconds * EXCHANGE_INTERVAL_SECONDS >= INCOMPLETE_SECONDS || isComplete()),
      takeWhile((complete) => !complete, true),
      distinctUntilChanged(),
    ),
    exchange: (own$, aborted$) =>
      merge(
        own$.pipe(tap(note), ignoreElements()),
        // What cannot be written or read now is a second later; many writes do not keep it from reading.
        eachSecond(write),
        eachSecond(async () => {
          await read()
          return []
        }),
      ).pipe(takeUntil(aborted$)),
  }
}
