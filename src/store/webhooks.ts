import { parse, type Row, type Sql } from './sql.ts'
import { onlyStoreErrors } from './store-error.ts'
import { insertInto, keyIsGiven } from './tables.ts'
import type { StoredWebhook, UndeliveredEvent, WebhookProgress, WebhookStore } from './webhook-store.ts'

const UNDELIVERED_OF = 'FROM callwatch.undelivered WHERE webhook = name'
const WEBHOOKS = `
  SELECT name, revision, data,
    (SELECT count(*) ${UNDELIVERED_OF} AND dead IN (false)) AS waiting,
    (SELECT count(*) ${UNDELIVERED_OF} AND dead IN (true)) AS dead,
    (SELECT undelivered.data ${UNDELIVERED_OF} AND dead IN (false) ORDER BY position, place LIMIT 1) AS first,
    (SELECT min(position) ${UNDELIVERED_OF} AND dead IN (false)) AS first_position
  FROM callwatch.webhooks ORDER BY name`
const UNDELIVERED = `
  SELECT position, place, dead, data FROM callwatch.undelivered
  WHERE webhook = $1 AND dead = ($2::int = 1) AND (position, place) > ($3::bigint, $4::int) ORDER BY position, place LIMIT $5::int`
const ADD = 'INSERT INTO callwatch.webhooks (name, revision, data) VALUES ($1, 1, $2) ON CONFLICT DO NOTHING'
const CHANGE =
  'UPDATE callwatch.webhooks SET revision = revision + 1, data = $2 WHERE name = $1 AND revision = $3::bigint'
const DELETE = 'DELETE FROM callwatch.webhooks WHERE name = $1 AND revision = $2::bigint'
const REMOVE_FROM = `
  DELETE FROM callwatch.undelivered
  WHERE webhook = $1 AND dead IN (false, true) AND (position, place) >= ($2::bigint, $3::int)`
const REMOVE = `DELETE FROM callwatch.undelivered WHERE ${keyIsGiven('undelivered')}`
const PUT = insertInto('undelivered', ['webhook', 'dead', 'position', 'place', 'data'])

/** The webhooks of events. */
export function webhooks(sql: Sql): WebhookStore {
  return {
    webhooks: async () => (await sql.all(WEBHOOKS)).map(storedWebhookOf),
    undelivered: async (webhook, { dead, after, limit }) => {
      const rows = await sql.all(UNDELIVERED, [webhook, Number(dead), after.position, after.place, limit])
      return rows.map(undeliveredOf)
    },
    saveWebhook: async ({ name, revision, progress, put = [], remove = [], removeFrom }) => {
      const data = JSON.stringify(progress)
      const gone = [...remove, ...put]
      const from = progress === undefined ? { position: 0, place: 0 } : removeFrom
      const saved =
        progress === undefined
          ? { statement: DELETE, args: [name, revision] }
          : revision === 0
            ? { statement: ADD, args: [name, data] }
            : { statement: CHANGE, args: [name, data, revision] }
      const steps = [
        { ...saved, fence: 1 },
        ...(from === undefined ? [] : [{ statement: REMOVE_FROM, args: [name, from.position, from.place] }]),
        {
          statement: REMOVE,
          given: [0, 1].flatMap((dead) => gone.map(({ position, place }) => [name, dead, position, place])),
        },
        {
          statement: PUT,
          given: put.map(({ position, place, dead, ...rest }) => [name, Number(dead), position, place, JSON.stringify(rest)]), // oxfmt-ignore
        },
      ]
      return sql.batch(steps).then(() => true, onlyStoreErrors(false, 'stale'))
    },
  }
}

function storedWebhookOf({ name, revision, data, waiting, dead, first, first_position: position }: Row): StoredWebhook {
  return {
    name: String(name),
    revision: Number(revision),
    progress: parse<WebhookProgress>(data),
    waiting: Number(waiting),
    dead: Number(dead),
    oldest: first === null ? undefined : { position: Number(position), at: parse<UndeliveredEvent>(first).at },
  }
}

function undeliveredOf({ position, place, dead, data }: Row): UndeliveredEvent {
  // SQLite has no booleans.
  return { ...parse<UndeliveredEvent>(data), position: Number(position), place: Number(place), dead: Boolean(dead) }
}
