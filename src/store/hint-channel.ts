import { Subject, type Observable } from 'rxjs'
import * as z from 'zod'
import type { Clock } from '../clock/clock.ts'
import { TRIGGERS, type Hint } from '../ledger/hint.ts'
import type { Connection } from './postgres/connection.ts'
import type { Sql } from './sql.ts'
import { onlyStoreErrors } from './store-error.ts'

/** A hint about a call of a target, which another daemon may own. */
export type PassedHint = { target: string; hint: Hint }

/** Hints that the daemons on one database pass to each other, outside of transactions. */
export type HintChannel = {
  pass: (hints: readonly PassedHint[]) => Promise<void>
  /** The hints of all daemons, this one included. */
  hints$: Observable<readonly PassedHint[]>
  /**
   * Since when this daemon has heard all hints (UNIX seconds by the host's clock). It is Infinity without a connection, and behind a
   * pooler in transaction mode, which has no LISTEN.
   */
  hearsSince: () => number
}

const LISTEN = 'LISTEN callwatch_hints'
const NOTIFY = "SELECT pg_notify('callwatch_hints', $1)"
/** The most characters of a text. PostgreSQL accepts 8,000 bytes. */
const MAX_TEXT = 2000

const received = z.array(
  z.strictObject({
    target: z.string(),
    hint: z.strictObject({ id: z.string(), shows: z.enum([...new Set(Object.values(TRIGGERS))]) }),
  }),
)

export function hintChannel(clock: Clock) {
  const hints$ = new Subject<readonly PassedHint[]>()
  let listening: { connection: Connection; since: number } | undefined
  return {
    /** An option of a connection that is to listen. */
    onNotify: (text: string) => hints$.next(readHints(text)),
    listen: async (connection: Connection): Promise<void> => {
      if (!connection.isDirect()) return
      const begin = () => void (listening = { connection, since: clock.wall() })
      await connection.run(LISTEN).then(begin, onlyStoreErrors(undefined))
    },
    channelOn: (sql: Sql): HintChannel => ({
      pass: async (hints) => {
        await Promise.all(textsOf(hints).map((text) => sql.all(NOTIFY, [text])))
      },
      hints$,
      hearsSince: () => (listening?.connection.isDropped() === false ? listening.since : Infinity),
    }),
  }
}

/** The hints as JSON, in texts that PostgreSQL accepts. A hint that is longer is left out. */
function textsOf(hints: readonly PassedHint[]): string[] {
  const texts: string[][] = [[]]
  let length = 0
  for (const text of hints.map((hint) => JSON.stringify(hint)).filter((text) => text.length < MAX_TEXT)) {
    if (length + text.length > MAX_TEXT) {
      texts.push([])
      length = 0
    }
    texts.at(-1)!.push(text)
    length += text.length + 1
  }
  return texts.flatMap((parts) => (parts.length > 0 ? [`[${parts.join(',')}]`] : []))
}

/** Another program may use the channel as well. */
function readHints(text: string): readonly PassedHint[] {
  try {
    return received.safeParse(JSON.parse(text)).data ?? []
  } catch {
    return []
  }
}
