import { readFinish, RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import { newLedger, trackRecord } from '../../ledger/state.ts'
import type { Finish, TrackedCall } from '../../ledger/tracked-call.ts'
import { callOf, ledgerOf, settledOf } from '../rows.ts'
import { StoreError, type Commit, type Store, type StoredTarget } from '../store.ts'
import { openSqliteEngine, type SqliteEngine, type SqliteOptions } from './engine.ts'
import type { OpenedTarget } from './load-target.ts'
import { attempting } from './sqlite-error.ts'
import type { PackedCalls, PackedCommit } from './write-commit.ts'

/**
 * Calls a method of the engine, wherever that runs; `transfer`, the memory of arguments that need not be copied.
 * Rejects with a {@link StoreError}.
 */
export type CallEngine = <M extends keyof SqliteEngine>(
  method: M,
  args: Parameters<SqliteEngine[M]>,
  transfer?: ArrayBuffer[],
) => Promise<ReturnType<SqliteEngine[M]>>

/** The engine ended before it answered: what it was asked to do may have been done, or not. */
export class EngineEnded extends StoreError {
  constructor(message: string, cause?: Error) {
    super('unavailable', message, cause)
  }
}

/**
 * The embedded store: one SQLite file. Its engine runs in this thread: everything waits while it writes. For a daemon, see
 * thread.ts.
 *
 * @throws {StoreError} refused: the file is in use by another daemon, damaged, or not ours
 */
export function openSqliteStore(options: SqliteOptions): Store {
  const engine = openSqliteEngine(options)
  const { answer } = attempting(options.path)
  return sqliteStore((method, args) => answer(() => callMethod(engine, method, args)))
}

/** Calls a method by its name. */
export function callMethod<M extends keyof SqliteEngine>(
  engine: SqliteEngine,
  method: M,
  args: Parameters<SqliteEngine[M]>,
): ReturnType<SqliteEngine[M]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a union of methods TypeScript knows no arguments
  const call = engine[method] as (...given: Parameters<SqliteEngine[M]>) => ReturnType<SqliteEngine[M]>
  return call(...args)
}

/** The store of an engine. */
export function sqliteStore(call: CallEngine): Store {
  async function commit(target: string, given: Commit): Promise<void> {
    const packed = packCommit(given)
    const { buffer } = packed.calls.records
    try {
      await call('commit', [target, packed], [buffer])
    } catch (error) {
      if (!(error instanceof EngineEnded)) throw error
      // The engine that was started after it knows whether it was done.
      if ((await call('sequenceNumber', [target])) !== packed.sync.seq) throw error
    }
  }
  return {
    openTarget: async (identity, created, keepFinished) =>
      loadTarget(call, await call('openTarget', [identity, newLedger(created).sync, keepFinished])),
    resetTarget: (name, routedChanges) => call('resetTarget', [name, routedChanges]),
    evictedCalls: async (target, ids) => {
      const rows = await call('evictedCalls', [target, ids])
      return new Map(rows.map(callOf).map((each) => [each.id, each]))
    },
    commit,
    outbox: (notifier) => call('outbox', [notifier]),
    claimOutbox: (ids, claimed) => call('claimOutbox', [ids, claimed]),
    removeFromOutbox: (ids) => call('removeFromOutbox', [ids]),
    countOutbox: () => call('countOutbox', []),
    enqueueOnce: (key, content, receivers) => call('enqueueOnce', [key, content, receivers]),
    strayAlerts: (targets) => call('strayAlerts', [targets]),
    closeAlerts: (target, routedChanges) => call('closeAlerts', [target, routedChanges]),
    silences: (now) => call('silences', [now]),
    addSilence: (silence) => call('addSilence', [silence]),
    endSilence: (id) => call('endSilence', [id]),
    pausedUntil: (key) => call('pausedUntil', [key]),
    pauseUntil: (key, until) => call('pauseUntil', [key, until]),
    finishedCalls: async (query) =>
      (await call('finishedCalls', [query])).map((row) => ({ target: row.target, call: callOf(row) })),
    countFinished: (target, from, to) => call('countFinished', [target, from, to]),
    deleteExpired: (before) => call('deleteExpired', [before]),
    close: () => call('close', []),
  }
}

/** Reads the calls of a target that was opened, part by part. */
async function loadTarget(call: CallEngine, opened: OpenedTarget): Promise<StoredTarget> {
  const { sync, finishedSince, counters, usage, alerts, cursor } = opened
  const ledger = ledgerOf(sync)
  for (const [series, value] of counters) ledger.counters.set(series, value)
  for (const [quarter, minutes] of usage) ledger.usage.set(quarter, minutes)
  const nextPart = async () => (cursor === undefined ? undefined : call('readCalls', [cursor]))
  for (let part = await nextPart(); part !== undefined; part = await nextPart()) {
    for (const [id, record] of recordsOf(part)) {
      if (part.tracked) trackRecord(ledger, id, record, finishedSince)
      else ledger.finished.add(finishOf(record))
    }
  }
  return { ledger, alerts: new Map(alerts.map((instance) => [instance.key, instance])) }
}

function* recordsOf({ ids, records }: PackedCalls): Generator<[id: string, record: Uint8Array]> {
  for (const [i, id] of ids.entries()) yield [id, records.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES)]
}

function finishOf(record: Uint8Array): Finish {
  return readFinish(new DataView(record.buffer, record.byteOffset), 0)!
}

function packCommit({ ledger, alerts, routedChanges, evaluated }: Commit): PackedCommit {
  const { sync, calls, evicted, counters, usage } = ledger
  const unfinished = evicted.filter(({ finish }) => finish === undefined)
  return {
    sync,
    calls: packCalls([...calls.values()]),
    evicted: evicted.flatMap(({ id, finish }) => (finish === undefined ? [] : id)),
    deleted: unfinished.map(({ id }) => id),
    settled: settledOf(unfinished),
    counters,
    usage,
    alerts: { changed: alerts.changed, ended: alerts.ended.map(({ key }) => key) },
    routedChanges,
    evaluated,
  }
}

function packCalls(calls: readonly TrackedCall[]): { ids: string[]; records: Uint8Array<ArrayBuffer> } {
  const records = new Uint8Array(calls.length * RECORD_BYTES)
  const view = new DataView(records.buffer)
  for (const [i, call] of calls.entries()) writeCall(view, i * RECORD_BYTES, call)
  return { ids: calls.map(({ id }) => id), records }
}
