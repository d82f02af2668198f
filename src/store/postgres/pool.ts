import { systemClock, type Clock } from '../../clock/clock.ts'
import { StoreError } from '../store-error.ts'
import type { Connection } from './connection.ts'
import { HungError, isOfServer } from './postgres-error.ts'

/** A few connections, each used for one piece of work at a time. */
export type Pool = ReturnType<typeof openPool>

type PoolOptions = {
  open: () => Promise<Connection>
  /** The most connections. */
  size: number
  clock?: Clock
  /** Whether it leads to the same host as new connections. */
  isWanted?: (connection: Connection) => boolean
  /** The host did not answer in time, or says that it cannot do anything. */
  giveUp?: (connection: Connection) => void
}

/** How long a connection is used. A new one may find a better host, and frees memory of the server. */
const MAX_AGE_SECONDS = 1800

type Kept = { connection: Connection; since: number }

export function openPool({
  open,
  size,
  clock = systemClock,
  isWanted = () => true,
  giveUp = () => undefined,
}: PoolOptions) {
  const idle: Kept[] = []
  const turns = newTurns(size)

  async function takeConnection(): Promise<Kept> {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      if (kept.connection.isDropped()) continue
      if (clock.monotonic() - kept.since < MAX_AGE_SECONDS && isWanted(kept.connection)) return kept
      void kept.connection.close()
    }
    try {
      return { connection: await open(), since: clock.monotonic() }
    } catch (error) {
      turns.fail(error)
      throw error
    }
  }

  return {
    /**
     * Runs `work` on a connection that nothing else uses meanwhile. If the database does not answer one caller, all callers that
     * wait fail.
     */
    use: async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
      await turns.begin()
      try {
        const kept = await takeConnection()
        const { connection } = kept
        try {
          return await work(connection)
        } catch (error) {
          if (isOfServer(error)) giveUp(connection)
          if (error instanceof StoreError && error.cause instanceof HungError) turns.fail(error)
          throw error
        } finally {
          if (turns.isClosed()) void connection.close()
          else if (!connection.isDropped()) idle.push(kept)
        }
      } finally {
        turns.end()
      }
    },
    close: async (): Promise<void> => {
      turns.close()
      await Promise.all(idle.splice(0).map(({ connection }) => connection.close()))
    },
  }
}

/** Limits how much work runs at a time. The rest waits. */
function newTurns(size: number) {
  const waiting: PromiseWithResolvers<void>[] = []
  let busy = 0
  let isClosed = false
  /** The callers that wait. */
  const fail = (error: unknown) => {
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  return {
    fail,
    begin: async (): Promise<void> => {
      if (isClosed) throw closedError()
      if (busy < size) {
        busy += 1
        return
      }
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
    },
    end: (): void => {
      const next = waiting.shift()
      if (next === undefined) busy -= 1
      else next.resolve()
    },
    isClosed: () => isClosed,
    close: (): void => {
      isClosed = true
      fail(closedError())
    },
  }
}

function closedError(): StoreError {
  return new StoreError('unavailable', 'the store is closed')
}
