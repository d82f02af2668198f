import { isDeepStrictEqual } from 'node:util'
import { concatMap, defer, distinctUntilChanged, EMPTY, filter, shareReplay, take, tap, type Observable } from 'rxjs'

/**
 * Runs something for a part of the configuration, while that part stays equal. When the part changes, the run is drained, and
 * after it has ended the next run begins with the latest part. Completes when `part$` has completed and the last run has
 * ended.
 *
 * @param part$ the part of the first configuration, and of each one after a reload
 * @param run gets the part, and a signal that emits when the part is no longer active (replays)
 */
export function runWhile<Part, Event>(
  part$: Observable<Part>,
  run: (part: Part, draining$: Observable<unknown>) => Observable<Event>,
): Observable<Event> {
  return defer(() => {
    let latest: { part: Part } | undefined
    const parts$ = part$.pipe(
      distinctUntilChanged<Part>(isDeepStrictEqual),
      tap((part) => (latest = { part })),
      shareReplay({ bufferSize: 1, refCount: true }),
    )
    const overtaken = (part: Part) =>
      parts$.pipe(
        filter((next) => next !== part),
        take(1),
      )
    return parts$.pipe(concatMap((part) => defer(() => (latest?.part === part ? run(part, overtaken(part)) : EMPTY))))
  })
}
