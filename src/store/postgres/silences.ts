import { silenceOf } from '../rows.ts'
import type { SilenceBook } from '../store.ts'
import { connectBeside } from './connect-beside.ts'
import type { Session } from './connection.ts'

/**
 * Opens a store for its silences alone: the daemons that use it apply them when they read them next.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it refuses connections
 */
export async function openPostgresSilences(url: string): Promise<SilenceBook> {
  const session = await connectBeside(url)
  return { ...postgresSilences(session), close: session.close }
}

/** The silences of a database. */
export function postgresSilences({ run }: Session): Omit<SilenceBook, 'close'> {
  return {
    silences: async (now) => {
      const rows = await run('SELECT id, data FROM callwatch.silences WHERE until > $1::float8 ORDER BY id', [now])
      return rows.map(silenceOf)
    },
    addSilence: async (silence) => {
      await run('DELETE FROM callwatch.silences WHERE until <= $1::float8', [silence.since])
      const insert = 'INSERT INTO callwatch.silences (until, data) VALUES ($1::float8, $2) RETURNING id'
      const [row] = await run(insert, [silence.until, JSON.stringify(silence)])
      return { id: Number(row!['id']), ...silence }
    },
    endSilence: async (id) => {
      const ended = await run('DELETE FROM callwatch.silences WHERE id = $1::bigint RETURNING id', [id])
      return ended.length === 1
    },
  }
}
