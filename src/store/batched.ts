type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

export type BatchLimits<T> = {
  /** The most that one call of `load` takes. A single larger item is loaded alone. */
  most: number
  /** The size of an item; default: 1. */
  size?: (item: T) => number
  /** The most concurrent calls of `load`. Items requested meanwhile wait, and share the next call. */
  concurrent?: number
  /** An item is loaded at once if no call is running. Items share a call only if they had to wait. */
  isEager?: boolean | undefined
}

/**
 * Returns a function whose calls within one turn of the event loop share one call of `load`.
 *
 * @param load resolves to the result of each item, in order. An Error rejects only the call for that item
 */
export function batched<T, R>(
  load: (items: readonly T[]) => Promise<readonly (R | Error)[]>,
  { most, size = () => 1, concurrent = Infinity, isEager = false }: BatchLimits<T>,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = []
  let running = 0
  let isScheduled = false

  async function run(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await load(batch.map(({ item }) => item))
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i]!
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function nextBatch(): Waiting<T, R>[] {
    let total = 0
    const end = waiting.findIndex(({ item }, i) => (total += size(item)) > most && i > 0)
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  function runAll(): void {
    isScheduled = false
    while (waiting.length > 0 && running < concurrent) {
      running += 1
      void run(nextBatch()).finally(() => {
        running -= 1
        schedule()
      })
    }
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    if (isEager) return runAll()
    isScheduled = true
    setImmediate(runAll)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
