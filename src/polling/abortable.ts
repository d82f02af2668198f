import { Observable } from 'rxjs'

/** A promise-returning operation as an Observable: unsubscribing aborts it. Emits its one value, or errors. */
export function abortable<T>(operation: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const controller = new AbortController()
    let isOver = false
    operation(controller.signal).then(
      (value) => {
        isOver = true
        subscriber.next(value)
        subscriber.complete()
      },
      (error: unknown) => {
        isOver = true
        subscriber.error(error)
      },
    )
    // Aborting costs an exception with its stack: of what is over nobody hears it.
    return () => {
      if (!isOver) controller.abort()
    }
  })
}
