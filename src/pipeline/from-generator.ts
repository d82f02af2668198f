import { from, Observable, take } from 'rxjs'

/** What a generator may ask of its subscriber. */
export type AbortState = {
  /** It must end early. */
  aborted: AbortSignal
  /** Nothing is subscribed any more: it must have no further effect. */
  isUnsubscribed: () => boolean
}

/** Emits what an async generator yields. `aborted$`, and unsubscribing, abort its signal. */
export function fromGenerator<T>(
  create: (state: AbortState) => AsyncGenerator<T, void>,
  aborted$: Observable<unknown>,
): Observable<T> {
  return new Observable((subscriber) => {
    const controller = new AbortController()
    const abort = () => controller.abort()
    subscriber.add(aborted$.pipe(take(1)).subscribe(abort))
    subscriber.add(abort)
    from(create({ aborted: controller.signal, isUnsubscribed: () => subscriber.closed })).subscribe(subscriber)
  })
}
