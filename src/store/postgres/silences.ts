import { silenceOf } from '../rows.ts'
import type { Store } from '../store.ts'
import type { Session } from './connection.ts'

/** The silences of a database. */
export function postgresSilences({ run }: Session): Pick<Store, 'silences' | 'addSilence' | 'endSilence'> {
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
