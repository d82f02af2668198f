import type { Silence } from '../alerts/match.ts'
import { parse, type Row, type Sql } from './sql.ts'

/** What an edit of a silence can change. */
type SilenceChanges = Partial<Pick<Silence, 'match' | 'until' | 'reason'>>

const ACTIVE = 'SELECT id, until, data FROM callwatch.silences WHERE until > $1::float8'

/** The silences. Commands write them, too, while the daemon runs. */
export function silences(sql: Sql) {
  /** @returns whether the row existed */
  const change = async (statement: string, ...args: (string | number)[]) => {
    const [changed] = await sql.batch([{ statement: `${statement} RETURNING id`, args }])
    return changed!
  }
  return {
    /** The silences that expire after a time (UNIX seconds). */
    silences: async (now: number): Promise<Silence[]> => (await sql.all(`${ACTIVE} ORDER BY id`, [now])).map(silenceOf),
    addSilence: async (silence: Omit<Silence, 'id'>): Promise<Silence> => {
      const insert = 'INSERT INTO callwatch.silences (until, data) VALUES ($1::float8, $2)'
      const [row] = await change(insert, silence.until, JSON.stringify(silence))
      return { id: Number(row!['id']), ...silence }
    },
    /**
     * Edits a silence that is active at `now`. Resolves to the edited one, to undefined if there is none, or to `changed` if it was
     * edited meanwhile.
     *
     * @param edits how often it was edited when the caller read it; undefined edits it however often that was
     */
    editSilence: async (id: number, changes: SilenceChanges, now: number, edits?: number) => {
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
    /** Ends a silence that is active at `now`. Resolves to whether there was one. */
    expireSilence: async (id: number, now: number): Promise<boolean> => {
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
function editedSilence(before: Omit<Silence, 'id'>, changes: SilenceChanges, now: number) {
  const { match, edits = 0, earlier = [] } = before
  const edited = { ...before, ...changes, edits: edits + 1 }
  const isSame = JSON.stringify(match) === JSON.stringify(edited.match)
  return { ...edited, earlier: isSame ? earlier : [...earlier, { match, until: now }] }
}
