type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

/**
 * A function whose calls of one turn of the event loop share one call of `load`, for `most` items at most.
 *
 * @param load resolves with the result of each item in order; an Error rejects only the call for that item
 */
export function batched<T, R>(
  load: (items: readonly T[]) => Promise<readonly (R | Error)[]>,
  most: number,
): (item: T) => Promise<R> {
  let batch: Waiting<T, R>[] = []

  async function run(waiting: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await load(waiting.map(({ item }) => item))
      for (const [i, { resolve, reject }] of waiting.entries()) {
        const result = results[i]!
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (batch.length === most) batch = []
      if (batch.push({ item, resolve, reject }) > 1) return
      const opened = batch
      setImmediate(() => {
        if (batch === opened) batch = []
        void run(opened)
      })
    })
}
