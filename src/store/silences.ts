import type { Silence } from '../alerts/match.ts'
import { parse } from './rows.ts'
import type { Row, Sql } from './sql.ts'

const ACTIVE = 'SELECT id, until, data FROM callwatch.silences WHERE until > $1::float8'

/** Silences. Commands write them beside the daemon. */
export function silences(sql: Sql) {
  /** @returns whether there was such a row */
  const change = async (statement: string, ...args: (string | number)[]) => {
    const [changed] = await sql.batch([{ statement: `${statement} RETURNING id`, args }])
    return changed!
  }
  return {
    /** Silences that have not expired by then (UNIX seconds). */
    silences: async (now: number): Promise<Silence[]> => (await sql.all(`${ACTIVE} ORDER BY id`, [now])).map(silenceOf),
    addSilence: async (silence: Omit<Silence, 'id'>): Promise<Silence> => {
      const insert = 'INSERT INTO callwatch.silences (until, data) VALUES ($1::float8, $2)'
      const [row] = await change(insert, silence.until, JSON.stringify(silence))
      return { id: Number(row!['id']), ...silence }
    },
    /**
     * Replaces a silence that is active at `now` and was edited once less; resolves with whether there was one, so that of two
     * edits at the same time one is refused.
     */
    editSilence: async ({ id, ...silence }: Silence, now: number): Promise<boolean> => {
      const [row] = await sql.all(`${ACTIVE} AND id = $2::bigint`, [now, id])
      const edited = row && editedSilence(silenceOf(row), silence, now)
      if (edited === undefined) return false
      // Another one may have edited it in between.
      const update = `
        UPDATE callwatch.silences SET until = $1::float8, data = $2
        WHERE id = $3::bigint AND until > $4::float8 AND data = $5`
      return (await change(update, edited.until, JSON.stringify(edited), id, now, String(row!['data']))).length === 1
    },
    /** Expires a silence that is active at `now`, which is its end then; resolves with whether there was one. */
    expireSilence: async (id: number, now: number): Promise<boolean> => {
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
