import {
  concatMap,
  defer,
  EMPTY,
  finalize,
  groupBy,
  mergeAll,
  mergeMap,
  of,
  takeUntil,
  type Observable,
  type OperatorFunction,
} from 'rxjs'

/** Something that runs alone. `skipped$` is what is emitted instead if one of its kind already runs or waits. */
export type ExclusiveJob<T> = { kind: string; run$: Observable<T>; skipped$?: Observable<T> }

/**
 * Runs one job at a time. A job that is due while one of another kind runs begins after it; one of the same kind is skipped.
 *
 * @param draining$ emits when no further job may begin (replays)
 */
export function exclusive<T>(draining$: Observable<unknown>): OperatorFunction<ExclusiveJob<T>, T> {
  return (due$) =>
    defer(() => {
      const taken = new Set<string>()
      const isSkipped = ({ kind }: ExclusiveJob<T>) => taken.has(kind) || !taken.add(kind)
      const begun = ({ kind, run$ }: ExclusiveJob<T>) =>
        of(run$).pipe(
          takeUntil(draining$),
          mergeAll(),
          finalize(() => taken.delete(kind)),
        )
      return due$.pipe(
        groupBy(isSkipped),
        mergeMap((jobs$) =>
          jobs$.key ? jobs$.pipe(mergeMap(({ skipped$ = EMPTY }) => skipped$)) : jobs$.pipe(concatMap(begun)),
        ),
      )
    })
}
