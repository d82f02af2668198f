import { episodeRow, type EpisodeNote } from '../../alerts/episode.ts'
import { hasEnded } from '../../alerts/notification.ts'
import { outboxEntryOf } from '../rows.ts'
import type { RoutedChange, OutboxEntry, OutboxContent } from '../store.ts'
import type { Session } from './connection.ts'

const ENQUEUE = 'INSERT INTO callwatch.outbox (receiver, data)'

/** For its receivers, in order, which are kept as recipients for its end. To those that were none yet it is the beginning ($5). */
const ENQUEUE_BEGINNING = `
  WITH added AS (
    INSERT INTO callwatch.recipients (target, alert, receiver) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING
    RETURNING receiver
  )
  ${ENQUEUE}
  SELECT receiver, CASE WHEN receiver IN (SELECT receiver FROM added) THEN $5 ELSE $4 END
  FROM unnest($3::text[]) WITH ORDINALITY AS given (receiver, place) ORDER BY place`

/** For the recipients of its beginning, as far as these are configured ($3, or null for all). */
const ENQUEUE_END = `
  WITH before AS (
    DELETE FROM callwatch.recipients WHERE target = $1 AND alert = $2 RETURNING receiver
  )
  ${ENQUEUE} SELECT receiver, $4 FROM before WHERE $3::text[] IS NULL OR receiver = ANY ($3::text[])`

/** What waits for other receivers, which are no recipients of what began with it, unless that may have been sent. */
const REMOVE_OTHERS = `
  WITH removed AS (
    DELETE FROM callwatch.outbox WHERE receiver <> ALL ($1::text[]) RETURNING receiver, claimed, data::json AS change
  )
  DELETE FROM callwatch.recipients USING removed
  WHERE recipients.receiver = removed.receiver AND NOT claimed AND change ->> 'kind' = 'firing'
    AND change ->> 'target' = target AND change ->> 'key' = alert`

const ENQUEUE_ONCE = `
  WITH used AS (
    INSERT INTO callwatch.deduplication_keys (key) VALUES ($1) ON CONFLICT DO NOTHING RETURNING key
  )
  ${ENQUEUE} SELECT given.receiver, $3 FROM used, unnest($2::text[]) AS given (receiver)`

/** Of all members the first one sends: two at once would send the same twice. */
const CLAIM = `
  WITH sender AS (
    SELECT id FROM (SELECT id FROM callwatch.members ORDER BY joined LIMIT 1) AS first WHERE id = $2::uuid
  ), claimed AS (
    UPDATE callwatch.outbox SET claimed = true FROM sender WHERE outbox.id = ANY ($1::bigint[])
  )
  SELECT id FROM sender`

// A commit and a sender may write the same episodes at the same time: both lock them in one order, else they could deadlock.

const WRITE_EPISODES = `
  INSERT INTO callwatch.alert_episodes (target, alert, since, until, rule, severity, data)
  SELECT * FROM unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::text[], $6::text[], $7::text[])
    AS given (target, alert, since, until, rule, severity, data)
  ORDER BY target COLLATE "C", alert COLLATE "C", since
  ON CONFLICT (target, alert, since) DO UPDATE SET
    until = excluded.until, rule = excluded.rule, severity = excluded.severity, data = excluded.data`

/** @param condition when to */
const addNotes = (condition: string) => `
  WITH found AS (
    SELECT episode.target, episode.alert, episode.since, lines
    FROM callwatch.alert_episodes AS episode
    JOIN unnest($1::text[], $2::text[], $3::float8[], $4::text[]) AS given (target, alert, since, lines)
      USING (target, alert, since)
    WHERE ${condition}
    ORDER BY target, alert, since FOR UPDATE OF episode
  )
  UPDATE callwatch.alert_episodes AS episode SET notes = notes || lines FROM found
  WHERE episode.target = found.target AND episode.alert = found.alert AND episode.since = found.since`

const NOTE = addNotes('true')

/** What another attempt has removed, it has noted as well. */
const REMOVE = `
  WITH removed AS (
    DELETE FROM callwatch.outbox WHERE id = ANY ($5::bigint[]) RETURNING id
  ), noted AS (${addNotes('EXISTS (SELECT FROM removed)')})
  SELECT FROM removed`

/**
 * The outbox's rows. Nothing here begins a transaction: the caller that enqueues several changes does.
 *
 * @param receivers all that are configured: what waits for any other is removed; undefined keeps all
 */
export function postgresOutbox(receivers: readonly string[] | undefined) {
  let configuredReceivers = receivers
  const configured = (recipients: Iterable<string>) =>
    [...new Set(recipients)].filter((receiver) => configuredReceivers?.includes(receiver) ?? true)
  const enqueueChange = async (session: Session, { change, receivers: recipients }: RoutedChange): Promise<void> => {
    const { target, key } = change
    const content = JSON.stringify(change)
    const beginning = JSON.stringify({ ...change, kind: 'firing' })
    if (hasEnded(change)) await session.run(ENQUEUE_END, [target, key, configuredReceivers ?? null, content])
    else await session.run(ENQUEUE_BEGINNING, [target, key, configured(recipients), content, beginning])
  }
  const writeEpisodes = async (session: Session, routedChanges: readonly RoutedChange[]): Promise<void> => {
    const all = routedChanges.map(({ change }) => episodeRow(change))
    // No row can be written twice in a statement.
    const rows = [...new Map(all.map((row) => [JSON.stringify([row.target, row.key, row.since]), row])).values()]
    await session.run(WRITE_EPISODES, [
      rows.map(({ target }) => target),
      rows.map(({ key }) => key),
      rows.map(({ since }) => since),
      rows.map(({ until }) => until),
      rows.map(({ rule }) => rule),
      rows.map(({ severity }) => severity),
      rows.map(({ data }) => data),
    ])
  }
  const noteArguments = (notes: readonly EpisodeNote[]) => [
    notes.map(({ target }) => target),
    notes.map(({ key }) => key),
    notes.map(({ since }) => since),
    notes.map(({ lines }) => lines),
  ]
  const clear = async (session: Session): Promise<void> => {
    if (configuredReceivers !== undefined) await session.run(REMOVE_OTHERS, [configuredReceivers])
  }
  return {
    /** Removes what waits for receivers that are not configured. */
    clear,
    setReceivers: async (session: Session, names: readonly string[]): Promise<void> => {
      configuredReceivers = names
      await clear(session)
    },
    /** Keeps changes in the history, and enqueues them for their receivers; an end for the recipients of its beginning instead. */
    enqueueChanges: async (session: Session, routedChanges: readonly RoutedChange[]): Promise<void> => {
      if (routedChanges.length === 0) return
      await Promise.all([
        ...routedChanges.map((routed) => enqueueChange(session, routed)),
        writeEpisodes(session, routedChanges),
      ])
    },
    note: async (session: Session, notes: readonly EpisodeNote[]): Promise<void> => {
      await session.run(NOTE, noteArguments(notes))
    },
    /** Enqueues something for each receiver, but nothing where that deduplication key was used before. */
    enqueueOnce: async (
      session: Session,
      key: string,
      content: OutboxContent,
      recipients: readonly string[],
    ): Promise<void> => {
      await session.run(ENQUEUE_ONCE, [key, configured(recipients), JSON.stringify(content)])
    },
    /** All that waits for a receiver, the oldest first. */
    read: async (session: Session, receiver: string): Promise<OutboxEntry[]> => {
      const rows = await session.run('SELECT id, claimed, data FROM callwatch.outbox WHERE receiver = $1 ORDER BY id', [
        receiver,
      ])
      return rows.map(outboxEntryOf)
    },
    /** @returns whether the member is the one that sends; if not, nothing was claimed */
    claim: async (session: Session, ids: readonly number[], self: string | undefined): Promise<boolean> => {
      const [sender] = await session.run(CLAIM, [ids, self ?? null])
      return sender !== undefined
    },
    unclaim: async (session: Session, ids: readonly number[]): Promise<void> => {
      await session.run('UPDATE callwatch.outbox SET claimed = false WHERE id = ANY ($1::bigint[])', [ids])
    },
    /** Removes entries, and adds notes where any was there. */
    remove: async (session: Session, ids: readonly number[], notes: readonly EpisodeNote[] = []): Promise<void> => {
      await session.run(REMOVE, [...noteArguments(notes), ids])
    },
    /** How much waits, by receiver. */
    count: async (session: Session): Promise<ReadonlyMap<string, number>> => {
      const rows = await session.run(
        'SELECT receiver, count(*)::int AS n FROM callwatch.outbox GROUP BY receiver ORDER BY receiver',
      )
      return new Map(rows.map(({ receiver, n }) => [String(receiver), Number(n)]))
    },
  }
}
