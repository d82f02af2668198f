import { storedWebhookOf, undeliveredColumns, undeliveredOf } from '../rows.ts'
import type { LogPlace, WebhookStore, WebhookChange } from '../webhook-store.ts'
import type { Session } from './connection.ts'

const WEBHOOKS = `
  SELECT name, revision, webhooks.data, waiting, undelivered.dead,
    first.data AS first, first.position AS first_position
  FROM callwatch.webhooks,
    LATERAL (SELECT count(*) FILTER (WHERE NOT dead) AS waiting, count(*) FILTER (WHERE dead) AS dead
      FROM callwatch.undelivered WHERE webhook = name) AS undelivered
    LEFT JOIN LATERAL (SELECT data, position FROM callwatch.undelivered
      WHERE webhook = name AND NOT dead ORDER BY position, place LIMIT 1) AS first ON true
  ORDER BY name COLLATE "C"`
const UNDELIVERED = `
  SELECT position, place, dead, data FROM callwatch.undelivered
  WHERE webhook = $1 AND dead = ($2::int = 1) AND (position, place) > ($3::bigint, $4::int) ORDER BY position, place LIMIT $5::int`
const INSERT = `
  INSERT INTO callwatch.webhooks (name, revision, data) VALUES ($1, 1, $2) ON CONFLICT DO NOTHING RETURNING 1`
const UPDATE = `
  UPDATE callwatch.webhooks SET revision = revision + 1, data = $2 WHERE name = $1 AND revision = $3::bigint RETURNING 1`
const DELETE = 'DELETE FROM callwatch.webhooks WHERE name = $1 AND revision = $2::bigint RETURNING 1'
const REMOVE_FROM =
  'DELETE FROM callwatch.undelivered WHERE webhook = $1 AND dead IN (false, true) AND (position, place) >= ($2::bigint, $3::int)'
const REMOVE = `
  DELETE FROM callwatch.undelivered USING unnest($2::bigint[], $3::int[]) AS gone (p, i)
  WHERE webhook = $1 AND dead IN (false, true) AND position = p AND place = i`
const PUT = `
  INSERT INTO callwatch.undelivered (webhook, position, place, dead, data)
  SELECT $1, p, i, d = 1, t FROM unnest($2::bigint[], $3::int[], $4::int[], $5::text[]) AS new (p, i, d, t)`

/** The webhooks of a database. */
export function postgresWebhooks(
  { run }: Session,
  allOrNothing: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
): WebhookStore {
  return {
    webhooks: async () => (await run(WEBHOOKS)).map(storedWebhookOf),
    undelivered: async (webhook, { dead, after, limit }) =>
      (await run(UNDELIVERED, [webhook, Number(dead), after.position, after.place, limit])).map(undeliveredOf),
    saveWebhook: (change) => allOrNothing((session) => save(session, change)),
  }
}

async function save(
  { run }: Session,
  { name, revision, progress, put = [], remove = [], removeFrom }: WebhookChange,
): Promise<boolean> {
  const data = JSON.stringify(progress)
  const saved =
    progress === undefined
      ? await run(DELETE, [name, revision])
      : revision === 0
        ? await run(INSERT, [name, data])
        : await run(UPDATE, [name, data, revision])
  if (saved.length === 0) return false
  const from: LogPlace | undefined = progress === undefined ? { position: 0, place: 0 } : removeFrom
  if (from !== undefined) await run(REMOVE_FROM, [name, from.position, from.place])
  const gone = [...remove, ...put]
  if (gone.length > 0) {
    await run(REMOVE, [name, gone.map(({ position }) => position), gone.map(({ place }) => place)])
  }
  if (put.length === 0) return true
  const rows = put.map(undeliveredColumns)
  await run(PUT, [
    name,
    rows.map(({ position }) => position),
    rows.map(({ place }) => place),
    rows.map(({ dead }) => Number(dead)),
    rows.map(({ data: text }) => text),
  ])
  return true
}
