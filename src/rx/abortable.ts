import {
  defer,
  finalize,
  firstValueFrom,
  from,
  fromEvent,
  merge,
  of,
  take,
  takeUntil,
  throwIfEmpty,
  type Observable,
} from 'rxjs'

/** The poll was aborted before its request was answered. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError'
}

/** One for all operations: an exception with its stack for each would take time. */
const ENDED = new Error('nothing waits for the operation any more')

/** Runs an asynchronous operation as an Observable: it emits the one value, or errors. Unsubscribing aborts the operation. */
export function abortable<T>(operation: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return defer(() => {
    const controller = new AbortController()
    return from(operation(controller.signal)).pipe(finalize(() => controller.abort(ENDED)))
  })
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
