import { defer, endWith, finalize, from, ignoreElements, merge, take, takeWhile, tap, type Observable } from 'rxjs'

/** What a generator may ask of its subscriber. */
export type AbortState = {
  /** It must end early. */
  aborted: AbortSignal
  /** Nothing is subscribed any more: it must have no further effect. */
  isUnsubscribed: () => boolean
}

const ENDED = Symbol('ended')

/** Emits what an async generator yields. `aborted$`, and unsubscribing, abort its signal. */
export function fromGenerator<T>(
  create: (state: AbortState) => AsyncGenerator<T, void>,
  aborted$: Observable<unknown>,
): Observable<T> {
  return defer(() => {
    const controller = new AbortController()
    const abort = () => controller.abort()
    let isUnsubscribed = false
    const items = create({ aborted: controller.signal, isUnsubscribed: () => isUnsubscribed })
    return merge(from(items).pipe(endWith(ENDED)), aborted$.pipe(take(1), tap(abort), ignoreElements())).pipe(
      takeWhile((item): item is T => item !== ENDED),
      finalize(() => {
        isUnsubscribed = true
        abort()
      }),
    )
  })
}
