import type { Addressed, OutboxEntry, Outgoing } from '../store.ts'
import type { Session } from './connection.ts'

export type OutboxOptions = {
  /** All that there are; what waits for any other is removed, since nobody will ever send it. */
  notifiers?: readonly string[] | undefined
}

const PUT = 'INSERT INTO callwatch.outbox (notifier, data)'

/** To whom it is addressed, in order, and who is remembered for the end. */
const PUT_BEGINNING = `
  WITH remembered AS (
    INSERT INTO callwatch.receivers (target, alert, notifier) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING
  )
  ${PUT} SELECT notifier, $5 FROM unnest($4::text[]) WITH ORDINALITY AS given (notifier, place) ORDER BY place`

/** To whom it is addressed, and to whoever was to be told of the beginning, if he is there ($4, or null for all). */
const PUT_END = `
  WITH told AS (
    DELETE FROM callwatch.receivers WHERE target = $1 AND alert = $2 RETURNING notifier
  )
  ${PUT}
  SELECT notifier, $5 FROM (SELECT unnest($3::text[]) AS notifier UNION SELECT notifier FROM told) AS receivers
  WHERE $4::text[] IS NULL OR notifier = ANY ($4::text[])`

const PUT_ONCE = `
  WITH named AS (
    INSERT INTO callwatch.put_out (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name
  )
  ${PUT} SELECT given.notifier, $3 FROM named, unnest($2::text[]) AS given (notifier)`

/** Of all members the first one sends: two at once would tell the same twice. */
const CLAIM = `
  WITH sender AS (
    SELECT id FROM (SELECT id FROM callwatch.members ORDER BY joined LIMIT 1) AS first WHERE id = $2::uuid
  ), claimed AS (
    UPDATE callwatch.outbox SET claimed = true FROM sender WHERE outbox.id = ANY ($1::bigint[])
  )
  SELECT id FROM sender`

/** The outbox's rows. Nothing here begins a transaction: who puts several changes does. */
export function postgresOutbox({ notifiers }: OutboxOptions) {
  const there = (receivers: Iterable<string>) =>
    [...new Set(receivers)].filter((notifier) => notifiers?.includes(notifier) ?? true)
  return {
    /** Removes what waits for notifiers that are not there any more. */
    clear: async (session: Session): Promise<void> => {
      if (notifiers !== undefined) {
        await session.run('DELETE FROM callwatch.outbox WHERE notifier <> ALL ($1::text[])', [notifiers])
      }
    },
    /** Puts a change out for whom it is addressed to; an end also for whoever was to be told of its beginning. */
    putChange: async (session: Session, { change, to }: Addressed): Promise<void> => {
      const { target, key, kind } = change
      const begins = kind === 'firing' || kind === 'reminder'
      const content = JSON.stringify(change)
      if (begins) await session.run(PUT_BEGINNING, [target, key, [...new Set(to)], there(to), content])
      else await session.run(PUT_END, [target, key, [...to], notifiers ?? null, content])
    },
    /** Puts something out once for each notifier, but nothing where something was put out under that name before. */
    putOnce: async (session: Session, name: string, content: Outgoing, receivers: readonly string[]): Promise<void> => {
      await session.run(PUT_ONCE, [name, there(receivers), JSON.stringify(content)])
    },
    /** All that waits for a notifier, the oldest first. */
    read: async (session: Session, notifier: string): Promise<OutboxEntry[]> => {
      const rows = await session.run('SELECT id, claimed, data FROM callwatch.outbox WHERE notifier = $1 ORDER BY id', [
        notifier,
      ])
      return rows.map(({ id, claimed, data }) => ({
        id: Number(id),
        claimed: claimed === true,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file only
        content: JSON.parse(String(data)) as Outgoing,
      }))
    },
    /** @returns whether the member is the one that sends; if not, nothing was claimed */
    claim: async (session: Session, ids: readonly number[], self: string | undefined): Promise<boolean> => {
      const [sender] = await session.run(CLAIM, [ids, self ?? null])
      return sender !== undefined
    },
    unclaim: async (session: Session, ids: readonly number[]): Promise<void> => {
      await session.run('UPDATE callwatch.outbox SET claimed = false WHERE id = ANY ($1::bigint[])', [ids])
    },
    remove: async (session: Session, ids: readonly number[]): Promise<void> => {
      await session.run('DELETE FROM callwatch.outbox WHERE id = ANY ($1::bigint[])', [ids])
    },
    /** How much waits, by notifier. */
    count: async (session: Session): Promise<ReadonlyMap<string, number>> => {
      const rows = await session.run(
        'SELECT notifier, count(*)::int AS n FROM callwatch.outbox GROUP BY notifier ORDER BY notifier',
      )
      return new Map(rows.map(({ notifier, n }) => [String(notifier), Number(n)]))
    },
  }
}
