import { Observable } from 'rxjs'

/**
 * Gathers values into arrays whose sizes add up to at least `size`; the rest comes when the source completes.
 * Where the source errors, what was gathered is dropped.
 */
export function inChunks<T>(size: number, sizeOf: (value: T) => number): (source: Observable<T>) => Observable<T[]> {
  return (source) =>
    new Observable((subscriber) => {
      let chunk: T[] = []
      let gathered = 0
      return source.subscribe({
        next: (value) => {
          chunk.push(value)
          gathered += sizeOf(value)
          if (gathered < size) return
          const full = chunk
          chunk = []
          gathered = 0
          subscriber.next(full)
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          if (chunk.length > 0) subscriber.next(chunk)
          subscriber.complete()
        },
      })
    })
}
