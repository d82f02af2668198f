import { Observable } from 'rxjs'

/** A promise-returning operation as an Observable: unsubscribing aborts it. Emits its one value, or errors. */
export function abortable<T>(operation: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const controller = new AbortController()
    operation(controller.signal).then(
      (value) => {
        subscriber.next(value)
        subscriber.complete()
      },
      (error: unknown) => subscriber.error(error),
    )
    return () => controller.abort()
  })
}
