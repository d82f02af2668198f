import type { Silence } from '../alerts/match.ts'
import { parse, type Row, type Sql } from './sql.ts'
import type { SilenceStore } from './store.ts'

const ACTIVE = 'SELECT id, until, data FROM callwatch.silences WHERE until > $1::float8'

export function silences(sql: Sql): SilenceStore {
  /** @returns whether the row existed */
  const change = async (statement: string, ...args: (string | number)[]) => {
    const [changed] = await sql.batch([{ statement: `${statement} RETURNING id`, args }])
    return changed!
  }
  return {
    silences: async (now) => (await sql.all(`${ACTIVE} ORDER BY id`, [now])).map(silenceOf),
    addSilence: async (silence) => {
      const insert = 'INSERT INTO callwatch.silences (until, data) VALUES ($1::float8, $2)'
      const [row] = await change(insert, silence.until, JSON.stringify(silence))
      return { id: Number(row!['id']), ...silence }
    },
    editSilence: async (id, changes, now, edits) => {
      const [row] = await sql.all(`${ACTIVE} AND id = $2::bigint`, [now, id])
      if (row === undefined) return undefined
      const { id: _id, ...before } = silenceOf(row)
      const edited = editedSilence(before, changes, now)
      if (edits !== undefined && edited.edits !== edits + 1) return 'changed'
      // Another process may edit it at the same time.
      const update = `
        UPDATE callwatch.silences SET until = $1::float8, data = $2
        WHERE id = $3::bigint AND until > $4::float8 AND data = $5`
      const [done] = await change(update, edited.until, JSON.stringify(edited), id, now, String(row['data']))
      return done === undefined ? 'changed' : { id, ...edited }
    },
    expireSilence: async (id, now) => {
      const update = 'UPDATE callwatch.silences SET until = $2::float8 WHERE id = $1::bigint AND until > $2::float8'
      return (await change(update, id, now)).length === 1
    },
  }
}

/** Reads the silence of a row. If it was ended early, the end in the row is not the one in its JSON. */
function silenceOf({ id, until, data }: Row): Silence {
  return { ...parse<Omit<Silence, 'id'>>(data), id: Number(id), until: Number(until) }
}

/** Applies an edit at `now` to a silence, and keeps what it matched until then. */
function editedSilence(before: Omit<Silence, 'id'>, changes: Partial<Silence>, now: number) {
  const { match, edits = 0, earlier = [] } = before
  const edited = { ...before, ...changes, edits: edits + 1 }
  const isSame = JSON.stringify(match) === JSON.stringify(edited.match)
  return { ...edited, earlier: isSame ? earlier : [...earlier, { match, until: now }] }
}
