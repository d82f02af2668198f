import { EMPTY, exhaustMap, ignoreElements, merge, mergeMap, takeUntil, tap, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Sharing } from '../store/sharing.ts'
import { onlyStoreErrors } from '../store/store.ts'
import type { Targets } from '../target/lifecycle.ts'
import { readOverview, writeOverview, type OtherTarget, type Overview } from '../web/overview.ts'
import type { DaemonEvent } from './daemon-event.ts'

export type OverviewsOptions = {
  sharing: Sharing | undefined
  clock: Clock
  targets: Targets
  ownership: Pick<Ownership, 'ownerOf' | 'problem'>
}

/** What this daemon knows of the targets that others own. */
export type Overviews = {
  /** Those of them of which an overview was read. */
  others: () => readonly OtherTarget[]
  /**
   * Until `aborted$`, writes overviews of the own targets for the other daemons, and reads what these have written and
   * committed.
   *
   * @param own$ what this daemon does: what changes an overview
   */
  exchange: (own$: Observable<DaemonEvent>, aborted$: Observable<unknown>) => Observable<DaemonEvent>
}

/** Seconds between two times that overviews are written and read. */
const INTERVAL = 1
/** Overviews that are written at a time: their text takes the event loop's time. */
const MAX_WRITTEN = 200

export function newOverviews({ sharing, clock, targets, ownership }: OverviewsOptions): Overviews {
  if (sharing === undefined) return { others: () => [], exchange: () => EMPTY }
  const known = new Map<string, Overview>()
  /** Own targets whose overview is not written yet. */
  const changed = new Set<string>()
  let cursor: string | undefined

  function note(event: DaemonEvent): void {
    if (event.kind === 'committed') changed.add(event.committed.target)
    else if (event.kind === 'polled') changed.add(event.target)
    // Rules and intervals are shown as well.
    else if (event.kind === 'reload') for (const name of targets.owned()) changed.add(name)
    else if (event.kind === 'removed') known.delete(event.target)
    else if (event.kind === 'ownership' && event.event.kind === 'acquired') {
      for (const name of event.event.targets) changed.add(name)
    }
  }

  async function write(): Promise<void> {
    const due = targets.loaded().filter(({ name }) => changed.has(name))
    const texts = new Map(due.slice(0, MAX_WRITTEN).map((target) => [target.name, writeOverview(target, clock.wall())]))
    if (texts.size === 0) return
    for (const name of texts.keys()) changed.delete(name)
    try {
      await sharing!.publish(texts)
    } catch (error) {
      for (const name of texts.keys()) changed.add(name)
      throw error
    }
  }

  async function read(): Promise<DaemonEvent[]> {
    const news = await sharing!.news(cursor)
    cursor = news.cursor
    for (const [name, text] of news.overviews) {
      const overview = readOverview(text)
      if (overview !== undefined) known.set(name, overview)
    }
    return news.commits.map(({ target, commit }) => ({ kind: 'committed elsewhere', target, commit }))
  }

  return {
    others: () => {
      const loaded = new Set(targets.loaded().map(({ name }) => name))
      const unowned = ownership.problem() ?? 'no daemon owns it at the moment'
      return targets.all().flatMap((name) => {
        const overview = loaded.has(name) ? undefined : known.get(name)
        return overview === undefined ? [] : [{ ...overview, name, owner: ownership.ownerOf(name), unowned }]
      })
    },
    exchange: (own$, aborted$) =>
      merge(
        own$.pipe(tap(note), ignoreElements()),
        timer(0, INTERVAL * 1000, clock.scheduler).pipe(
          // What cannot be written or read now is a second later.
          exhaustMap(async () => {
            await write().catch(onlyStoreErrors(undefined))
            return read().catch(onlyStoreErrors([]))
          }),
          mergeMap((events) => events),
        ),
      ).pipe(takeUntil(aborted$)),
  }
}
