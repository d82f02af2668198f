import { defer, endWith, finalize, from, ignoreElements, merge, take, takeWhile, tap, type Observable } from 'rxjs'

const ENDED = Symbol('ended')

/**
 * Emits what an async generator yields. `aborted$` and unsubscribing abort the generator's signal. After unsubscribing, the
 * generator must have no further effect.
 */
export function fromGenerator<T>(
  create: (aborted: AbortSignal, isUnsubscribed: () => boolean) => AsyncGenerator<T, void>,
  aborted$: Observable<unknown>,
): Observable<T> {
  return defer(() => {
    const controller = new AbortController()
    const abort = () => controller.abort()
    let isUnsubscribed = false
    const items = create(controller.signal, () => isUnsubscribed)
    return merge(from(items).pipe(endWith(ENDED)), aborted$.pipe(take(1), tap(abort), ignoreElements())).pipe(
      takeWhile((item): item is T => item !== ENDED),
      finalize(() => {
        isUnsubscribed = true
        abort()
      }),
    )
  })
}
