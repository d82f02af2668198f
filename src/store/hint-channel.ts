import { Subject } from 'rxjs'
import * as z from 'zod'
import type { Clock } from '../clock/clock.ts'
import { isTrigger, type Hint, type WebhookTrigger } from '../ledger/hint.ts'
import { parseTree } from '../schema/path.ts'
import { batched } from './batched.ts'
import type { Connection } from './postgres/connection.ts'
import type { Sql } from './sql.ts'
import { onlyStoreErrors } from './store-error.ts'

/** A hint about a call of a target, which another daemon may own. */
export type PassedHint = { target: string; hint: Hint }

const LISTEN = 'LISTEN callwatch_hints'
const NOTIFY = "SELECT pg_notify('callwatch_hints', $1)"
/** The most characters of a text. PostgreSQL accepts 8,000 bytes. A hint that is longer is not passed. */
const MAX_TEXT = 2000
/** With its comma. */
const sizeOf = (hint: PassedHint) => JSON.stringify(hint).length + 1

const received = z.strictObject({
  target: z.string(),
  hint: z.strictObject({ id: z.string(), trigger: z.custom<WebhookTrigger>(isTrigger) }),
})

/** Hints that the daemons on one database pass to each other, outside of transactions. */
export function hintChannel(clock: Clock) {
  const hints$ = new Subject<readonly PassedHint[]>()
  let listening: { connection: Connection; since: number } | undefined
  return {
    /** An option of a connection that is to listen. */
    onNotify: (text: string) => hints$.next(readHints(text)),
    listen: async (connection: Connection): Promise<void> => {
      if (!connection.isDirect()) return
      const begin = () => void (listening = { connection, since: clock.monotonic() })
      await connection.run(LISTEN).then(begin, onlyStoreErrors(undefined))
    },
    channelOn: (sql: Sql) => {
      const notify = async (hints: readonly PassedHint[]) => {
        await sql.all(NOTIFY, [JSON.stringify(hints)])
        return hints.map(() => undefined)
      }
      const pass = batched(notify, { most: MAX_TEXT, size: sizeOf, concurrent: 1 })
      return {
        /** Passes a hint to all daemons. Those that come meanwhile are sent together afterwards. */
        pass: async (hint: PassedHint): Promise<void> => (sizeOf(hint) <= MAX_TEXT ? pass(hint) : undefined),
        /** The hints of all daemons, this one included. */
        hints$: hints$.asObservable(),
        /**
         * Since when this daemon has heard all hints (monotonic seconds). It is Infinity without a connection, and behind
         * a pooler in transaction mode, which has no LISTEN.
         */
        hearsSince: () => (listening?.connection.isDropped() === false ? listening.since : Infinity),
      }
    },
  }
}

/** The hints of a text that this daemon knows. Another program, or another version of callwatch, may use the channel as well. */
function readHints(text: string): readonly PassedHint[] {
  const hints = parseTree(text)
  return Array.isArray(hints) ? hints.flatMap((hint) => received.safeParse(hint).data ?? []) : []
}
