import { episodeRow, type EpisodeNote } from '../alerts/episode.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Cluster } from './cluster.ts'
import { list, parse, type Row, type Sql, type Step } from './sql.ts'
import { StoreError } from './store-error.ts'
import type { NotifiedStore, ReceiverState } from './store.ts'
import { insertInto, replacing } from './tables.ts'

const ROW = ['id', 'receiver', 'accepted', 'data']
const WRITE = insertInto('notified', ROW, replacing('notified', ROW))
const REMOVE = 'DELETE FROM callwatch.notified WHERE id IN texts($1)'
const STATE = ['name', 'data']
const SET_STATE = insertInto('receivers', STATE, replacing('receivers', STATE))

/** What receivers were told that are not configured. */
const CLEAR = [
  'DELETE FROM callwatch.notified WHERE NOT receiver IN texts($1)',
  'DELETE FROM callwatch.receivers WHERE NOT name IN texts($1)',
]

// A commit and a sender may write the same episodes at the same time. Both lock them in the same order, so that they cannot deadlock.

const EPISODE = ['target', 'alert', 'since', 'until', 'rule', 'severity', 'data']
const WRITE_EPISODES = insertInto('alert_episodes', [...EPISODE, 'notes'], replacing('alert_episodes', EPISODE))
const NOTE = `
  UPDATE callwatch.alert_episodes AS episode SET notes = notes || lines
  FROM given(target text, alert text, since float8, lines text)
  WHERE episode.target = given.target AND episode.alert = given.alert AND episode.since = given.since`

export type NotifiedOptions = {
  /** All configured receivers. What others were told is forgotten, once, with `clear`; undefined keeps everything. */
  receivers: readonly string[] | undefined
  cluster: Pick<Cluster, 'senderFence'> | undefined
}

/** What receivers were told, and the history of alerts, which both the commits and the messages write. */
export function notifiedOf(sql: Sql, { receivers, cluster }: NotifiedOptions) {
  let configured = receivers
  const clear = (): Step[] =>
    configured === undefined ? [] : CLEAR.map((statement) => ({ statement, args: [list(configured!)] }))

  const methods: NotifiedStore = {
    notified: async () => {
      const rows = await sql.all('SELECT id, receiver, accepted, data FROM callwatch.notified')
      const states = await sql.all('SELECT name, data FROM callwatch.receivers')
      return {
        rows: rows.map(notifiedRow),
        receivers: new Map(states.map(({ name, data }) => [String(name), parse<ReceiverState>(data)])),
      }
    },
    writeNotified: async ({ remove = [], rows = [], receiver, notes = [] }) => {
      const steps: Step[] = [
        ...(cluster?.senderFence() ?? []),
        ...(remove.length === 0 ? [] : [{ statement: REMOVE, args: [list(remove)] }]),
        {
          statement: WRITE,
          given: rows.map(({ id, accepted, data, ...row }) => [id, row.receiver, Number(accepted), data]),
        },
        {
          statement: SET_STATE,
          given: receiver === undefined ? [] : [[receiver.name, JSON.stringify(receiver.state)]],
        },
        ...noteSteps(notes),
      ]
      await sql.batch(steps).catch((error: unknown) => {
        if (!(error instanceof StoreError && error.kind === 'stale')) throw error
        throw new StoreError('stale', 'this daemon is not the leader; only the leader sends notifications')
      })
    },
    noteEpisodes: async (notes) => void (await sql.batch(noteSteps(notes))),
    setReceivers: async (names) => {
      configured = names
      await sql.batch(clear())
    },
  }

  return {
    methods,
    /** Forgets what receivers were told that are not configured. */
    clear,
    /** Writes changes of alerts to the history. */
    writeEpisodes,
  }
}

export type NotifiedPart = ReturnType<typeof notifiedOf>

/** @param row of the table */
export function notifiedRow({ id, receiver, accepted, data }: Row) {
  return { id: String(id), receiver: String(receiver), accepted: Boolean(accepted), data: String(data) }
}

function writeEpisodes(changes: readonly Notification[]): Step[] {
  const rows = changes.map(episodeRow)
  // A statement cannot write a row twice.
  const episodes = new Map(rows.map((row) => [JSON.stringify([row.target, row.key, row.since]), row]))
  const given = inOrder([...episodes.values()]).map((row) => {
    const { target, key, since, until, rule, severity, data } = row
    return [target, key, since, until, rule, severity, data, '']
  })
  return [{ statement: WRITE_EPISODES, given }]
}

function noteSteps(notes: readonly EpisodeNote[]): Step[] {
  return inOrder(notes).map(({ target, key, since, lines }) => ({
    statement: NOTE,
    given: [[target, key, since, lines]],
  }))
}

function inOrder<T extends { target: string; key: string; since: number }>(rows: readonly T[]): T[] {
  const compare = (a: string, b: string) => Number(a > b) - Number(a < b)
  return rows.toSorted((a, b) => compare(a.target, b.target) || compare(a.key, b.key) || a.since - b.since)
}
