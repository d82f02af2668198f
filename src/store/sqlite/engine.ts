import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { EpisodeNote } from '../../alerts/episode.ts'
import type { Silence } from '../../alerts/match.ts'
import { finalStatusOf } from '../../ledger/call-codes.ts'
import { BASELINE_CODE, LOST_CODE } from '../../ledger/history-columns.ts'
import { countByStatus, type FinishedCounts } from '../../ledger/finished-calls.ts'
import type { SyncState } from '../../ledger/state.ts'
import { quarterHourOf, usedBetween, USAGE_RETENTION_SECONDS } from '../../ledger/usage.ts'
import type { ReadRow } from '../row-reader.ts'
import { alertsByTarget, callOf, deletedCallTotalsOf } from '../rows.ts'
import type {
  RoutedChange,
  LoggedEvents,
  MinuteCount,
  OutboxEntry,
  OutboxContent,
  RollupUpdate,
  TargetIdentity,
} from '../store.ts'
import { targetLoader, type CallsPart, type OpenedTarget } from './load-target.ts'
import { eventsIn, participantsEraser } from './events.ts'
import { openOwn, placeCheck } from './open-database.ts'
import { removedTargets } from './removed-targets.ts'
import { rowsIn } from './rows-in.ts'
import { sqliteOutbox } from './outbox.ts'
import { rollupsIn } from './rollups.ts'
import { silencesIn } from './silences.ts'
import { transaction as transactionOn } from './transaction.ts'
import { webhooksIn } from './webhooks.ts'
import { commitWriter, type PackedCommit, type PackedEvents } from './write-commit.ts'

export type SqliteOptions = {
  /** The file, made where it does not exist; `:memory:` keeps nothing. */
  path: string
  /** All configured receivers; what waits for any other is removed. */
  receivers?: readonly string[] | undefined
  /** false: if the machine stops, the latest commits may be lost; they do not wait for the disk. */
  durable?: boolean | undefined
}

type Row = Readonly<Record<string, unknown>>

/**
 * Reads and writes the file of a store; each method that writes is one transaction. All methods are synchronous: they run
 * in the store's thread (thread.ts), or where nothing else would have to wait. Arguments and results are values that a
 * thread can send to another.
 */
export type SqliteEngine = {
  openTarget: (identity: TargetIdentity, newState: SyncState, longestWindow: number) => OpenedTarget
  readCalls: (cursor: string) => CallsPart | undefined
  resetTarget: (name: string, routedChanges: readonly RoutedChange[], events?: PackedEvents) => void
  /** The sequence number of the last commit of a target; undefined of none that is known. */
  sequenceNumber: (target: string) => number | undefined
  commit: (target: string, commit: PackedCommit) => void
  evictedCalls: (target: string, ids: readonly string[]) => Row[]
  outbox: (receiver: string) => OutboxEntry[]
  claimOutbox: (ids: readonly number[], claimed: boolean) => void
  removeFromOutbox: (ids: readonly number[], notes?: readonly EpisodeNote[]) => void
  noteEpisodes: (notes: readonly EpisodeNote[]) => void
  countOutbox: () => Map<string, number>
  enqueueOnce: (key: string, content: OutboxContent, receivers: readonly string[]) => void
  setReceivers: (receivers: readonly string[]) => void
  strayTargets: (targets: readonly string[]) => { target: string; alerts: AlertInstance[] }[]
  expireAlerts: (
    target: string,
    routedChanges: readonly RoutedChange[],
    events?: PackedEvents,
    removed?: number,
  ) => void
  silences: (now: number) => Silence[]
  addSilence: (silence: Omit<Silence, 'id'>) => Silence
  editSilence: (silence: Silence, now: number) => boolean
  expireSilence: (id: number, now: number) => boolean
  pausedUntil: (key: string) => number | undefined
  pauseUntil: (key: string, until: number) => void
  countFinished: (target: string, from: number, to: number) => FinishedCounts
  finishedPerMinute: (targets: readonly string[], from: number, minutes: number) => MinuteCount[]
  openCalls: (targets: readonly string[]) => (Row & { target: string })[]
  usedMinutes: (target: string, from: number, to: number) => number
  events: (position: number, most: number) => LoggedEvents[]
  latestEvents: (most: number) => LoggedEvents[]
  deleteExpired: (before: number) => void
  /** @returns whether there may be more of them */
  deleteEvents: (before: number, end: number) => boolean
  /** @returns whether there are more of them */
  eraseParticipants: () => boolean
  saveRollups: (update: RollupUpdate) => void
  size: () => number
  rows: (statement: string, args: readonly (string | number)[]) => ReadRow[]
  close: () => void
} & ReturnType<typeof webhooksIn>

/** Tables with the target's number. */
const OF_TARGET = ['calls', 'counters', 'deleted_call_totals', 'gaps', 'alerts', 'usage', 'evaluations'] as const

/** Calls of all targets that are deleted at a time: everything else waits meanwhile. */
const DELETED_AT_ONCE = 2000

/**
 * Opens the file of a store: WAL mode, every commit on disk before it counts. One daemon a file.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export function openSqliteEngine({ path, receivers, durable = true }: SqliteOptions): SqliteEngine {
  const { db, release } = openOwn(path, durable)
  const prepare = (sql: string) => db.prepare(sql)
  const outbox = sqliteOutbox(db, receivers)
  const { deleteSilences, ...silences } = silencesIn(db)
  const rollups = rollupsIn(db)
  const commits = commitWriter(db, outbox, rollups)
  const removals = removedTargets(db, rollups)
  const loader = targetLoader(db, removals)
  const statements = {
    sequenceNumber: prepare('SELECT seq FROM targets WHERE name = ?'),
    numbers: prepare('SELECT number FROM targets'),
    longRemoved: prepare('SELECT name FROM targets WHERE removed < ? LIMIT 1'),
    size: prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'),
    readPause: prepare('SELECT until FROM pauses WHERE key = ?'),
    writePause: prepare(`
      INSERT INTO pauses (key, until) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`),
    evicted: prepare(`
      SELECT id, data FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND id = ? AND tracked = 0`),
    deleteExpired: prepare(`
      DELETE FROM calls WHERE rowid IN (
        SELECT rowid FROM calls WHERE target = ? AND tracked = 0 AND finished < ? ORDER BY finished LIMIT ?)
      RETURNING id, data, finished`),
    deleteExpiredEvaluations: prepare('DELETE FROM evaluations WHERE target = ? AND hour < ?'),
    // Only the oldest rows, whatever the clocks were, and the newest of these stays: so a reader knows what it has missed.
    deleteEvents: prepare(`
      DELETE FROM events WHERE position IN (
        SELECT position FROM events WHERE position < (
          SELECT max(position) FROM events WHERE position < min(:end, coalesce(
            (SELECT position FROM events WHERE at >= :before ORDER BY position LIMIT 1), 9e15)))
        ORDER BY position LIMIT :most)`),
    deleteExpiredEpisodes: prepare('DELETE FROM alert_episodes WHERE until < ?'),
    noteExpired: prepare('UPDATE targets SET expired = max(ifnull(expired, 0), ?) WHERE number = ?'),
    deleteExpiredGaps: prepare(`
      DELETE FROM gaps WHERE target = ? AND ended < ?
        AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.target = gaps.target AND finished < ended)`),
    deleteExpiredUsage: prepare('DELETE FROM usage WHERE target = ? AND quarter < ?'),
    finishedBetween: prepare(`
      SELECT status, count(*) AS n FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND finished >= ? AND finished < ? AND status <> ${LOST_CODE}
      GROUP BY status`),
    finishedPerMinute: prepare(`
      SELECT CAST((finished - :from) / 60 AS INTEGER) AS minute, status, count(*) AS n
      FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = :target)
        AND finished >= :from AND finished < :to AND status <> ${LOST_CODE}
      GROUP BY 1, 2`),
    openCalls: prepare(`
      SELECT id, data FROM calls INDEXED BY open_calls
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND finished IS NULL AND status <> ${BASELINE_CODE}`),
    usage: prepare(`
      SELECT quarter, minutes FROM usage
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND quarter >= ? AND quarter < ? ORDER BY quarter`),
  }

  let deletions = 0

  function deleteOf(table: (typeof OF_TARGET)[number], target: string): void {
    prepare(`DELETE FROM ${table} WHERE target = (SELECT number FROM targets WHERE name = ?)`).run(target)
  }

  function deleteTarget(name: string): void {
    const number = prepare('SELECT number FROM targets WHERE name = ?').get(name)?.['number']
    if (number !== undefined) rollups.markAllStale(Number(number))
    for (const table of OF_TARGET) deleteOf(table, name)
    prepare('DELETE FROM targets WHERE name = ?').run(name)
  }

  const expectInPlace = placeCheck(path)
  const transaction = <T>(work: () => T): T => {
    expectInPlace()
    return transactionOn(db, work)
  }

  return {
    openTarget: (...given) => transaction(() => loader.open(...given)),
    readCalls: loader.readCalls,
    resetTarget: (name, routedChanges, events) =>
      transaction(() => {
        deleteTarget(name)
        outbox.enqueueChanges(routedChanges)
        commits.logEvents(name, events)
      }),
    sequenceNumber: (target) => {
      const row = statements.sequenceNumber.get(target)
      return row && Number(row['seq'])
    },
    commit: (target, commit) => transaction(() => commits.write(target, commit)),
    evictedCalls: (target, ids) =>
      ids.map((id) => statements.evicted.get(target, id)).filter((row) => row !== undefined),
    outbox: outbox.read,
    claimOutbox: (ids, claimed) => transaction(() => outbox.claim(ids, claimed)),
    removeFromOutbox: (ids, notes) => transaction(() => outbox.remove(ids, notes)),
    noteEpisodes: (notes) => transaction(() => outbox.note(notes)),
    countOutbox: outbox.count,
    enqueueOnce: (key, content, receivers) => transaction(() => outbox.enqueueOnce(key, content, receivers)),
    setReceivers: (names) => transaction(() => outbox.setReceivers(names)),
    strayTargets: (targets) => {
      const rows = prepare(`
        SELECT name, data FROM targets LEFT JOIN alerts ON target = number
        WHERE removed IS NULL OR data IS NOT NULL ORDER BY name, alert`).all()
      return alertsByTarget(rows.filter(({ name }) => !targets.includes(String(name))))
    },
    expireAlerts: (target, routedChanges, events, removed) =>
      transaction(() => {
        deleteOf('alerts', target)
        if (removed !== undefined) removals.remove(target, removed)
        outbox.enqueueChanges(routedChanges)
        commits.logEvents(target, events)
      }),
    ...silences,
    addSilence: (...given) => transaction(() => silences.addSilence(...given)),
    editSilence: (...given) => transaction(() => silences.editSilence(...given)),
    expireSilence: (...given) => transaction(() => silences.expireSilence(...given)),
    pausedUntil: (key) => {
      const row = statements.readPause.get(key)
      return row && Number(row['until'])
    },
    pauseUntil: (key, until) => void statements.writePause.run(key, until),
    countFinished: (target, from, to) => {
      const rows = statements.finishedBetween.all(target, from, to)
      return countByStatus(rows.map(({ status, n }) => ({ status: finalStatusOf(Number(status)), n: Number(n) })))
    },
    finishedPerMinute: (targets, from, minutes) =>
      targets.flatMap((target) =>
        statements.finishedPerMinute.all({ target, from, to: from + 60 * minutes }).map((row) => ({
          target,
          minute: Number(row['minute']),
          status: finalStatusOf(Number(row['status'])),
          n: Number(row['n']),
        })),
      ),
    openCalls: (targets) =>
      targets.flatMap((target) => statements.openCalls.all(target).map((row) => ({ ...row, target }))),
    usedMinutes: (target, from, to) => {
      const rows = statements.usage.all(target, from, to)
      return usedBetween(
        rows.map(({ quarter, minutes }) => [Number(quarter), Number(minutes)]),
        from,
        to,
      )
    },
    ...eventsIn(db),
    ...webhooksIn(db, transaction),
    deleteEvents: (before, end) =>
      Number(statements.deleteEvents.run({ before, end, most: DELETED_AT_ONCE }).changes) === DELETED_AT_ONCE,
    eraseParticipants: participantsEraser(db),
    deleteExpired: (before) =>
      transaction(() => {
        statements.deleteExpiredEpisodes.run(before)
        deleteSilences(before)
        for (const { name } of statements.longRemoved.all(before)) deleteTarget(String(name))
        let left = DELETED_AT_ONCE
        const targets = statements.numbers.all()
        // Each time another target comes first, so that none is never reached.
        const first = deletions++ % Math.max(1, targets.length)
        for (const { number } of [...targets.slice(first), ...targets.slice(0, first)]) {
          const deleted = statements.deleteExpired.all(number!, before, left)
          left -= deleted.length
          commits.addDeletedCallTotals(Number(number), deletedCallTotalsOf(deleted.map(callOf)))
          const times = deleted.map(({ finished }) => Number(finished))
          if (times.length > 0) statements.noteExpired.run(Math.max(...times), number!)
          rollups.markStale(Number(number), new Set(times.map(quarterHourOf)))
          statements.deleteExpiredGaps.run(number!, before)
          statements.deleteExpiredEvaluations.run(number!, before)
          statements.deleteExpiredUsage.run(number!, before - USAGE_RETENTION_SECONDS)
        }
      }),
    saveRollups: (update) => transaction(() => rollups.saveRollups(update)),
    rows: rowsIn(db),
    size: () => Number(statements.size.get()!['bytes']),
    close: () => {
      db.close()
      release()
    },
  }
}
