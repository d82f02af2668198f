import { isDeepStrictEqual } from 'node:util'
import { concatMap, defer, distinctUntilChanged, EMPTY, filter, shareReplay, take, tap, type Observable } from 'rxjs'

/**
 * Runs what a part of the configuration asks for, for as long as that part stays equal. When it has changed, the run is
 * asked to end, and once it has, the next one begins; what was overtaken meanwhile is never begun. Completes when the
 * configurations do and the last run has ended.
 *
 * @param part$ the part as it is, and as it comes to be
 * @param run gets, beside the part, what emits once that is no longer in force; replays
 */
export function following<Part, Event>(
  part$: Observable<Part>,
  run: (part: Part, over$: Observable<unknown>) => Observable<Event>,
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
