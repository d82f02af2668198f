import { isDeepStrictEqual } from 'node:util'
import { concatMap, defer, distinctUntilChanged, EMPTY, filter, shareReplay, take, tap, type Observable } from 'rxjs'

/**
 * Runs something for a part of the configuration, for as long as that part stays equal. When it has changed, the run is
 * drained, and once it has ended, the next one begins with the latest part. Completes when `part$` does and the last run
 * has ended.
 *
 * @param part$ the part as it is, and each time that it was reloaded
 * @param run gets, beside the part, a signal that emits once that is not active any more; replays
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
