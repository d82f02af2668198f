import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { RECORD_BYTES } from '../../ledger/call-record.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import type { SyncState } from '../../ledger/state.ts'
import { bytesOf, finishedSince, otherTarget, parse } from '../rows.ts'
import { StoreError, type TargetIdentity } from '../store.ts'
import type { removedTargets } from './removed-targets.ts'
import type { PackedCalls } from './write-commit.ts'

/** A target without its calls, and a cursor for these. */
export type OpenedTarget = {
  sync: SyncState
  /** Since when its finished calls are read (UNIX seconds). */
  finishedSince: number
  counters: Map<string, number>
  usage: Map<number, number>
  alerts: AlertInstance[]
  /** For `readCalls`; undefined of a target that is new. No other engine knows it. */
  cursor: string | undefined
}

/** Part of a target's calls: tracked ones, or evicted ones that finished lately. */
export type CallsPart = PackedCalls & { tracked: boolean }

/** Calls in one part: few enough that the thread that takes them answers others in between. */
const CALLS_A_PART = 5000

type Row = Readonly<Record<string, unknown>>

/** Loads targets, each without its calls, and then these in parts. */
export function targetLoader(db: DatabaseSync, { restore }: Pick<ReturnType<typeof removedTargets>, 'restore'>) {
  const prepare = (sql: string) => db.prepare(sql)
  /** The parts that are still to be read, by cursor. */
  const cursors = new Map<string, Generator<CallsPart, void>>()

  function readTarget(row: Row, longestWindow: number): OpenedTarget {
    const number = Number(row['number'])
    const sync = parse<SyncState>(row['sync'])
    const since = finishedSince(sync, longestWindow)
    const counters = prepare('SELECT series, value FROM counters WHERE target = ?').all(number)
    const usage = prepare('SELECT quarter, minutes FROM usage WHERE target = ? ORDER BY quarter').all(number)
    const alerts = prepare('SELECT data FROM alerts WHERE target = ?').all(number)
    const cursor = randomUUID()
    cursors.set(cursor, callsOf(number, since))
    return {
      sync,
      finishedSince: since,
      counters: new Map(counters.map(({ series, value }) => [String(series), Number(value)])),
      usage: new Map(usage.map(({ quarter, minutes }) => [Number(quarter), Number(minutes)])),
      alerts: alerts.map(({ data }) => parse<AlertInstance>(data)),
      cursor,
    }
  }

  function* callsOf(target: number, since: number): Generator<CallsPart, void> {
    const tracked = prepare('SELECT id, data FROM calls WHERE target = ? AND tracked = 1')
    for (const part of inParts(tracked.iterate(target))) yield { ...part, tracked: true }
    const evicted = prepare(
      'SELECT id, data FROM calls WHERE target = ? AND tracked = 0 AND finished >= ? AND status <> ?',
    )
    for (const part of inParts(evicted.iterate(target, since, LOST_CODE))) yield { ...part, tracked: false }
  }

  function addTarget({ name, fingerprint }: TargetIdentity, sync: SyncState): OpenedTarget {
    const insert = prepare('INSERT INTO targets (name, fingerprint, seq, sync) VALUES (?, ?, 0, ?)')
    const { lastInsertRowid: number } = insert.run(name, fingerprint, JSON.stringify(sync))
    const addTotal = prepare('INSERT INTO deleted_call_totals (target, quantity, value) VALUES (?, ?, 0)')
    for (const quantity of QUANTITIES) addTotal.run(number, quantity)
    return { sync, finishedSince: Infinity, counters: new Map(), usage: new Map(), alerts: [], cursor: undefined }
  }

  return {
    /** A target's state; sets the target up where it is new. */
    open: (identity: TargetIdentity, newState: SyncState, longestWindow: number): OpenedTarget => {
      const row = prepare('SELECT fingerprint, number, sync FROM targets WHERE name = ?').get(identity.name)
      if (row === undefined) return addTarget(identity, newState)
      if (row['fingerprint'] !== identity.fingerprint) throw otherTarget(identity.name)
      restore(identity.name)
      return readTarget(row, longestWindow)
    },
    /**
     * The next part of a target's calls; undefined after the last one.
     *
     * @throws {StoreError} unavailable: the cursor is of an engine that ended
     */
    readCalls: (cursor: string): CallsPart | undefined => {
      const parts = cursors.get(cursor)
      if (parts === undefined)
        throw new StoreError('unavailable', 'the thread of the store ended while a target was loaded')
      const part = parts.next()
      if (part.done !== true) return part.value
      cursors.delete(cursor)
      return undefined
    },
  }
}

/** Rows with an `id` and `data`, so many calls at a time. */
function* inParts(rows: Iterable<Row>): Generator<PackedCalls, void> {
  let ids: string[] = []
  let records = new Uint8Array(CALLS_A_PART * RECORD_BYTES)
  for (const row of rows) {
    records.set(bytesOf(row), ids.length * RECORD_BYTES)
    ids.push(String(row['id']))
    if (ids.length < CALLS_A_PART) continue
    yield { ids, records }
    ids = []
    records = new Uint8Array(CALLS_A_PART * RECORD_BYTES)
  }
  if (ids.length > 0) yield { ids, records: records.subarray(0, ids.length * RECORD_BYTES) }
}
