import { defer, firstValueFrom, fromEvent, merge, Observable, of, take, takeUntil, throwIfEmpty } from 'rxjs'

/** Runs an asynchronous operation as an Observable: it emits the one value, or errors. Unsubscribing aborts the operation. */
export function abortable<T>(operation: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const controller = new AbortController()
    let isSettled = false
    operation(controller.signal).then(
      (value) => {
        isSettled = true
        subscriber.next(value)
        subscriber.complete()
      },
      (error: unknown) => {
        isSettled = true
        subscriber.error(error)
      },
    )
    // Aborting a completed operation would create an exception with its stack for nothing.
    return () => {
      if (!isSettled) controller.abort()
    }
  })
}

/** The poll was aborted before its request was answered. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError'
}

/** Emits when the signal is aborted; immediately if it already is. */
export function whenAborted(signal: AbortSignal): Observable<unknown> {
  return defer(() => (signal.aborted ? of(undefined) : fromEvent(signal, 'abort')))
}

/** The one value of an Observable. Rejects with an {@link AbortedError} if the signal is aborted first. */
export function firstUnlessAborted<T>(value$: Observable<T>, aborted: AbortSignal): Promise<T> {
  const error = () => new AbortedError('the poll was aborted')
  return firstValueFrom(value$.pipe(takeUntil(whenAborted(aborted)), throwIfEmpty(error)))
}

/** A signal that is aborted when `after$` emits, when `aborted` is aborted, or by `dispose`. Always call `dispose`. */
export function deadlineOf(
  after$: Observable<unknown>,
  aborted: AbortSignal,
): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const waiting = merge(after$, whenAborted(aborted)).pipe(take(1)).subscribe(abort)
  waiting.add(abort)
  return { signal: controller.signal, dispose: () => waiting.unsubscribe() }
}
