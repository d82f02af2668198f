import type { Silence } from '../../alerts/silence.ts'
import type { SilenceBook } from '../silence-book.ts'
import type { Session } from './connection.ts'

/** The silences of a database. */
export function postgresSilences({ run }: Session): Omit<SilenceBook, 'close'> {
  return {
    silences: async (now) => {
      const rows = await run('SELECT id, data FROM callwatch.silences WHERE until > $1::float8 ORDER BY id', [now])
      return rows.map(({ id, data }) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by addSilence only
        const silence = JSON.parse(String(data)) as Omit<Silence, 'id'>
        return { id: Number(id), ...silence }
      })
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
