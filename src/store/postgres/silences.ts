import { editedSilence, silenceOf } from '../rows.ts'
import type { Store } from '../store.ts'
import type { Session } from './connection.ts'

type Silences = Pick<Store, 'silences' | 'addSilence' | 'editSilence' | 'expireSilence'>

/** The silences of a database. */
export function postgresSilences({ run }: Session): Silences {
  return {
    silences: async (now) => {
      const rows = await run('SELECT id, until, data FROM callwatch.silences WHERE until > $1::float8 ORDER BY id', [
        now,
      ])
      return rows.map(silenceOf)
    },
    addSilence: async (silence) => {
      const insert = 'INSERT INTO callwatch.silences (until, data) VALUES ($1::float8, $2) RETURNING id'
      const [row] = await run(insert, [silence.until, JSON.stringify(silence)])
      return { id: Number(row!['id']), ...silence }
    },
    editSilence: async ({ id, ...silence }, now) => {
      const select = 'SELECT id, until, data FROM callwatch.silences WHERE id = $1::bigint AND until > $2::float8'
      const [row] = await run(select, [id, now])
      const edited = row && editedSilence(silenceOf(row), silence, now)
      if (edited === undefined) return false
      const update = `
        UPDATE callwatch.silences SET until = $1::float8, data = $2
        WHERE id = $3::bigint AND until > $4::float8 AND data = $5 RETURNING id`
      const rows = await run(update, [edited.until, JSON.stringify(edited), id, now, String(row!['data'])])
      return rows.length === 1
    },
    expireSilence: async (id, now) => {
      const update = `
        UPDATE callwatch.silences SET until = $2::float8 WHERE id = $1::bigint AND until > $2::float8 RETURNING id`
      const ended = await run(update, [id, now])
      return ended.length === 1
    },
  }
}
