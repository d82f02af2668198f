import { setImmediate } from 'node:timers/promises'
import { oneByOne } from '../clock/one-by-one.ts'

/**
 * A function that does the work of one client after that of another, each in its own iteration of the event loop. A part of the past takes
 * megabytes while it is read and formatted, and some milliseconds: those of hundreds of clients together would fill the memory, and stop
 * everything else. What is alive for short is also cheap to collect.
 */
export function workInTurn() {
  const inTurn = oneByOne()
  /** Resolves to undefined if the work has become pointless before its turn: the client has disconnected. */
  return <Result>(work: () => Promise<Result>, isOver: () => boolean): Promise<Result | undefined> =>
    inTurn(async () => {
      await setImmediate()
      return isOver() ? undefined : work()
    })
}
