import type { Silence } from '../alerts/match.ts'
import { parse } from './rows.ts'
import type { Row, Sql } from './sql.ts'
import type { Store } from './store.ts'

const ACTIVE = 'SELECT id, until, data FROM callwatch.silences WHERE until > $1::float8'

/** Silences. Commands write them beside the daemon. */
export function silences(sql: Sql): Pick<Store, 'silences' | 'addSilence' | 'editSilence' | 'expireSilence'> {
  /** @returns whether there was such a row */
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
    editSilence: async ({ id, ...silence }, now) => {
      const [row] = await sql.all(`${ACTIVE} AND id = $2::bigint`, [now, id])
      const edited = row && editedSilence(silenceOf(row), silence, now)
      if (edited === undefined) return false
      // Another one may have edited it in between.
      const update = `
        UPDATE callwatch.silences SET until = $1::float8, data = $2
        WHERE id = $3::bigint AND until > $4::float8 AND data = $5`
      return (await change(update, edited.until, JSON.stringify(edited), id, now, String(row!['data']))).length === 1
    },
    expireSilence: async (id, now) => {
      const update = 'UPDATE callwatch.silences SET until = $2::float8 WHERE id = $1::bigint AND until > $2::float8'
      return (await change(update, id, now)).length === 1
    },
  }
}

/** The silence of a row, which may have another end than its JSON: it expired early then. */
function silenceOf({ id, until, data }: Row): Silence {
  return { ...parse<Omit<Silence, 'id'>>(data), id: Number(id), until: Number(until) }
}

/** What an edit at `now` makes of a silence: what it matched until then is kept. Undefined if it was edited meanwhile. */
function editedSilence(before: Silence, edit: Omit<Silence, 'id'>, now: number): Omit<Silence, 'id'> | undefined {
  const { match, edits = 0, earlier = [] } = before
  if (edit.edits !== edits + 1) return undefined
  const isSame = JSON.stringify(match) === JSON.stringify(edit.match)
  return { ...edit, earlier: isSame ? earlier : [...earlier, { match, until: now }] }
}
