import { episodeRow, type EpisodeNote } from '../alerts/episode.ts'
import { hasEnded, type Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import type { Cluster } from './cluster.ts'
import { list, parse, type RowReader, type Sql, type Step } from './sql.ts'
import { onlyStoreErrors, StoreError } from './store-error.ts'
import type { OutboxContent, OutboxStore, RoutedChange, Telling, ToldGroup, Waiting } from './store.ts'
import { insertInto, replacing } from './tables.ts'

/** For receivers that were not recipients before, this change is the beginning. */
const ENQUEUE_CHANGE = `
  INSERT INTO callwatch.outbox (receiver, claimed, data)
  SELECT receiver, false, CASE WHEN EXISTS (
    SELECT 1 FROM callwatch.recipients AS known
    WHERE known.target = given.target AND known.alert = given.alert AND known.receiver = given.receiver
  ) THEN change ELSE beginning END
  FROM given(target text, alert text, receiver text, change text, beginning text)`
const ADD_RECIPIENTS = insertInto('recipients', ['target', 'alert', 'receiver'], 'NOTHING')

/** Enqueues an end for the recipients of the beginning that are configured ($4; null: all). */
const ENQUEUE_END = `
  INSERT INTO callwatch.outbox (receiver, claimed, data)
  SELECT receiver, false, $3::text FROM callwatch.recipients
  WHERE target = $1 AND alert = $2 AND ($4::text IS NULL OR receiver IN texts($4)) ORDER BY receiver`
const REMOVE_RECIPIENTS = 'DELETE FROM callwatch.recipients WHERE target = $1 AND alert = $2'

const ENQUEUE = insertInto('outbox', ['receiver', 'claimed', 'data'])

/**
 * Removes what waits for receivers that are not configured. They are no longer recipients, unless the message may have been sent.
 */
const FORGET_OTHERS = `
  DELETE FROM callwatch.recipients WHERE NOT receiver IN texts($1) AND EXISTS (
    SELECT 1 FROM callwatch.outbox WHERE outbox.receiver = recipients.receiver AND NOT claimed
      AND data::json ->> 'kind' = 'firing' AND data::json ->> 'target' = target AND data::json ->> 'key' = alert)`
/** In one transaction, so that no entry is claimed in between. */
const LOCK_OTHERS = 'SELECT id FROM callwatch.outbox WHERE NOT receiver IN texts($1) ORDER BY id FOR UPDATE'
const FORGET_TOLD = 'DELETE FROM callwatch.told_groups WHERE NOT receiver IN texts($1)'
const REMOVE_OTHERS = 'DELETE FROM callwatch.outbox WHERE NOT receiver IN texts($1)'
const CLEAR = [LOCK_OTHERS, FORGET_OTHERS, FORGET_TOLD, REMOVE_OTHERS]

/** A digest has no time: it waits for minutes at most. */
const WAITING = `
  SELECT receiver, count(*) AS n, min(CAST(data::json ->> 'at' AS float8)) AS oldest
  FROM callwatch.outbox GROUP BY receiver ORDER BY receiver`

const USE_KEYS = insertInto('deduplication_keys', ['key', 'at'], 'NOTHING')

// A commit and a sender may write the same episodes at the same time. Both lock them in the same order, so that they cannot deadlock.

const EPISODE = ['target', 'alert', 'since', 'until', 'rule', 'severity', 'data']
const WRITE_EPISODES = insertInto('alert_episodes', [...EPISODE, 'notes'], replacing('alert_episodes', EPISODE))
const NOTE = `
  UPDATE callwatch.alert_episodes AS episode SET notes = notes || lines
  FROM given(target text, alert text, since float8, lines text)
  WHERE episode.target = given.target AND episode.alert = given.alert AND episode.since = given.since`

const TELL = insertInto('told_groups', ['receiver', 'name', 'data'], replacing('told_groups', ['data']))

/** What waits for each receiver. */
export type Outboxes = ReadonlyMap<string, readonly OutboxContent[]>

/** What waits in the outbox, by receiver. */
export async function waitingContents({ rows }: RowReader): Promise<Map<string, OutboxContent[]>> {
  const found = await rows('SELECT receiver, data FROM callwatch.outbox')
  const byReceiver = Map.groupBy(found, ({ receiver }) => String(receiver))
  return new Map([...byReceiver].map(([name, own]) => [name, own.map(({ data }) => parse<OutboxContent>(data))]))
}

/** What waits for each receiver; `since` is absent if no alert does. */
async function waitingIn(sql: Sql): Promise<ReadonlyMap<string, Waiting>> {
  const rows = await sql.all(WAITING)
  return new Map(
    rows.map(({ receiver, n, oldest }) => [
      String(receiver),
      { pending: Number(n), ...(oldest !== null && { since: Number(oldest) }) },
    ]),
  )
}

/** Whether nothing was told of a group since: the outcome of an edit may be written late, when another daemon is the leader. */
async function isLatest(sql: Sql, { receiver, group, told }: Telling): Promise<boolean> {
  const { at } = (await toldGroupsIn(sql, receiver)).get(group) ?? told
  return at === told.at
}

async function toldGroupsIn(sql: Sql, receiver: string): Promise<ReadonlyMap<string, ToldGroup>> {
  const rows = await sql.all('SELECT name, data FROM callwatch.told_groups WHERE receiver = $1', [receiver])
  return new Map(rows.map(({ name, data }) => [String(name), parse<ToldGroup>(data)]))
}

export type Outbox = ReturnType<typeof outboxOf>

export type OutboxOptions = {
  /** All configured receivers. Whatever waits for others is removed, once, with `clear`; undefined keeps everything. */
  receivers: readonly string[] | undefined
  cluster: Pick<Cluster, 'senderFence'> | undefined
  clock: Clock
}

/** The outbox of notifications, and the history of alerts, which is written with it. */
export function outboxOf(sql: Sql, { receivers, cluster, clock }: OutboxOptions) {
  let configured = receivers
  const clear = (): Step[] =>
    configured === undefined ? [] : CLEAR.map((statement) => ({ statement, args: [list(configured!)] }))

  const methods: OutboxStore = {
    outbox: async (receiver) => {
      const query = 'SELECT id, claimed, data FROM callwatch.outbox WHERE receiver = $1 ORDER BY id'
      const rows = await sql.all(query, [receiver])
      return rows.map(({ id, claimed, data }) => ({
        id: Number(id),
        claimed: Boolean(claimed),
        content: parse<OutboxContent>(data),
      }))
    },
    claimOutbox: async (ids, claimed) => {
      const update = `UPDATE callwatch.outbox SET claimed = ${claimed} WHERE id IN wholes($1)`
      const fence = (claimed && cluster?.senderFence()) || []
      await sql.batch([...fence, { statement: update, args: [list(ids)] }]).catch((error: unknown) => {
        if (!(error instanceof StoreError && error.kind === 'stale')) throw error
        throw new StoreError('stale', 'this daemon is not the leader; only the leader sends notifications')
      })
    },
    removeFromOutbox: async (ids, notes = [], telling) => {
      // An attempt that removed an entry also noted its outcome.
      await sql.transaction(async (removing) => {
        const remove = 'DELETE FROM callwatch.outbox WHERE id IN wholes($1) RETURNING id'
        const [removed] = await removing.batch([{ statement: remove, args: [list(ids)] }])
        if (removed!.length === 0 && ids.length > 0) return
        const isTold = telling !== undefined && (ids.length > 0 || (await isLatest(removing, telling)))
        const told = isTold ? [[telling.receiver, telling.group, JSON.stringify(telling.told)]] : []
        await removing.batch([...noteSteps(notes), ...(isTold ? [{ statement: TELL, given: told }] : [])])
      })
    },
    toldGroups: (receiver) => toldGroupsIn(sql, receiver),
    noteEpisodes: async (notes) => void (await sql.batch(noteSteps(notes))),
    waiting: () => waitingIn(sql),
    enqueueOnce: async (keys, content, names) => {
      const data = JSON.stringify(content)
      const use: Step = { statement: USE_KEYS, given: keys.map((key) => [key, clock.wall()]), fence: keys.length }
      const given = configuredAmong(names, configured).map((name) => [name, 0, data])
      await sql.batch([use, { statement: ENQUEUE, given }]).catch(onlyStoreErrors(undefined, 'stale'))
    },
    setReceivers: async (names) => {
      configured = names
      await sql.batch(clear())
    },
  }

  return {
    methods,
    /** Removes what waits for receivers that are not configured. */
    clear,
    /**
     * Writes changes to the history, and enqueues them for their receivers. An end goes to the recipients of its beginning
     * instead.
     */
    enqueue: (changes: readonly RoutedChange[]): Step[] => [
      ...changes.flatMap((one) => enqueueChange(one, configured)),
      ...writeEpisodes(changes.map(({ change }) => change)),
    ],
  }
}

function configuredAmong(names: readonly string[], configured: readonly string[] | undefined): string[] {
  return [...new Set(names)].filter((name) => configured?.includes(name) ?? true)
}

/** @param configured the configured receivers; undefined: all receivers */
function enqueueChange({ change, receivers }: RoutedChange, configured: readonly string[] | undefined): Step[] {
  const { target, key } = change
  const content = JSON.stringify(change)
  if (hasEnded(change)) {
    const known = configured === undefined ? null : list(configured)
    return [
      { statement: ENQUEUE_END, args: [target, key, content, known] },
      { statement: REMOVE_RECIPIENTS, args: [target, key] },
    ]
  }
  const beginning = JSON.stringify({ ...change, kind: 'firing' })
  const names = configuredAmong(receivers, configured)
  return [
    { statement: ENQUEUE_CHANGE, given: names.map((name) => [target, key, name, content, beginning]) },
    { statement: ADD_RECIPIENTS, given: names.map((name) => [target, key, name]) },
  ]
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
