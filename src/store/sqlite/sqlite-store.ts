import { readFinish, RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import { newLedger, trackRecord } from '../../ledger/state.ts'
import { isCounted, type Finish, type TrackedCall } from '../../ledger/tracked-call.ts'
import { callOf, eventColumns, ledgerOf } from '../rows.ts'
import { StoreError, type Commit, type NewEvents, type Store, type StoredTarget } from '../store.ts'
import { openSqliteEngine, type SqliteEngine, type SqliteOptions } from './engine.ts'
import type { OpenedTarget } from './load-target.ts'
import { attempting } from './sqlite-error.ts'
import type { PackedCalls, PackedCommit, PackedEvents } from './write-commit.ts'

/**
 * Invokes a method of the engine, in this thread or another one. Rejects with a {@link StoreError}.
 *
 * @param transfer memory of the arguments that is moved to the other thread instead of copied
 */
export type InvokeEngine = <M extends keyof SqliteEngine>(
  method: M,
  args: Parameters<SqliteEngine[M]>,
  transfer?: ArrayBuffer[],
) => Promise<ReturnType<SqliteEngine[M]>>

/** The engine ended before it responded: the request may have been carried out, or not. */
export class EngineEnded extends StoreError {
  constructor(message: string, cause?: Error) {
    super('unavailable', message, cause)
  }
}

/**
 * The embedded store: one SQLite file. Its engine runs in this thread: everything waits while it writes. For a daemon, see
 * thread.ts.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export function openSqliteStore(options: SqliteOptions): Store {
  const engine = openSqliteEngine(options)
  const { answer } = attempting(options.path)
  return sqliteStore((method, args) => answer(() => invokeMethod(engine, method, args)))
}

/** Invokes a method by its name. */
export function invokeMethod<M extends keyof SqliteEngine>(
  engine: Partial<SqliteEngine>,
  method: M,
  args: Parameters<SqliteEngine[M]>,
): ReturnType<SqliteEngine[M]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a union of methods TypeScript knows no arguments
  const run = engine[method] as (...given: Parameters<SqliteEngine[M]>) => ReturnType<SqliteEngine[M]>
  return run(...args)
}

/** How a store runs queries that may take long. */
export type QueryRunner = { read: InvokeEngine; endReading: () => Promise<void> }

const nothing = () => Promise.resolve()

/**
 * The store of an engine.
 *
 * @param reading absent where the engine itself runs them
 */
export function sqliteStore(
  invoke: InvokeEngine,
  { read, endReading }: QueryRunner = { read: invoke, endReading: nothing },
): Store {
  async function commit(target: string, given: Commit): Promise<void> {
    const packed = packCommit(given)
    const { buffer } = packed.calls.records
    try {
      await invoke('commit', [target, packed], [buffer])
    } catch (error) {
      if (!(error instanceof EngineEnded)) throw error
      // The commit may have succeeded before the engine ended; the next engine reads that from the file.
      if ((await invoke('sequenceNumber', [target])) !== packed.sync.seq) throw error
    }
  }
  return {
    openTarget: async (identity, created, longestWindow) =>
      loadTarget(invoke, await invoke('openTarget', [identity, newLedger(created).sync, longestWindow])),
    resetTarget: (name, routedChanges, events) => invoke('resetTarget', [name, routedChanges, packEvents(events)]),
    evictedCalls: async (target, ids) => {
      const rows = await invoke('evictedCalls', [target, ids])
      return new Map(rows.map(callOf).map((each) => [each.id, each]))
    },
    commit,
    outbox: (receiver) => invoke('outbox', [receiver]),
    claimOutbox: (ids, claimed) => invoke('claimOutbox', [ids, claimed]),
    removeFromOutbox: (ids, notes) => invoke('removeFromOutbox', [ids, notes]),
    noteEpisodes: (notes) => invoke('noteEpisodes', [notes]),
    countOutbox: () => invoke('countOutbox', []),
    enqueueOnce: (key, content, receivers) => invoke('enqueueOnce', [key, content, receivers]),
    setReceivers: (receivers) => invoke('setReceivers', [receivers]),
    strayTargets: (targets) => invoke('strayTargets', [targets]),
    expireAlerts: (target, routedChanges, events, removed) =>
      invoke('expireAlerts', [target, routedChanges, packEvents(events), removed]),
    silences: (now) => invoke('silences', [now]),
    addSilence: (silence) => invoke('addSilence', [silence]),
    editSilence: (silence, now) => invoke('editSilence', [silence, now]),
    expireSilence: (id, now) => invoke('expireSilence', [id, now]),
    pausedUntil: (key) => invoke('pausedUntil', [key]),
    pauseUntil: (key, until) => invoke('pauseUntil', [key, until]),
    countFinished: (target, from, to) => invoke('countFinished', [target, from, to]),
    finishedPerMinute: (targets, from, minutes) => invoke('finishedPerMinute', [targets, from, minutes]),
    openCalls: async (targets) =>
      (await invoke('openCalls', [targets])).map((row) => ({ target: row.target, call: callOf(row) })),
    usedMinutes: (target, from, to) => invoke('usedMinutes', [target, from, to]),
    events: (position, most) => invoke('events', [position, most]),
    latestEvents: (most) => invoke('latestEvents', [most]),
    webhooks: () => invoke('webhooks', []),
    undelivered: (webhook, query) => invoke('undelivered', [webhook, query]),
    saveWebhook: (change) => invoke('saveWebhook', [change]),
    deleteExpired: (before) => invoke('deleteExpired', [before]),
    deleteEvents: async (before, end = Number.MAX_SAFE_INTEGER) => {
      while (await invoke('deleteEvents', [before, end]));
    },
    eraseParticipants: async () => {
      while (await invoke('eraseParticipants', []));
    },
    saveRollups: (update) => invoke('saveRollups', [update]),
    size: () => invoke('size', []),
    rows: (statement, args) => read('rows', [statement, args]),
    close: async () => {
      await invoke('close', [])
      await endReading()
    },
  }
}

/** Reads the calls of a target that was opened, part by part. */
async function loadTarget(invoke: InvokeEngine, opened: OpenedTarget): Promise<StoredTarget> {
  const { sync, finishedSince, counters, usage, alerts, cursor } = opened
  const ledger = ledgerOf(sync)
  for (const [series, value] of counters) ledger.counters.set(series, value)
  for (const [quarter, minutes] of usage) ledger.usage.set(quarter, minutes)
  const nextPart = async () => (cursor === undefined ? undefined : invoke('readCalls', [cursor]))
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

function packCommit({ ledger, alerts, routedChanges, evaluated, events, gap }: Commit): PackedCommit {
  const { sync, calls, evicted, counters, usage, stale } = ledger
  const [uncounted, counted] = [evicted.filter((call) => !isCounted(call)), evicted.filter(isCounted)]
  return {
    sync,
    calls: packCalls([...calls.values()]),
    evicted: counted.map(({ id }) => id),
    deleted: uncounted.map(({ id }) => id),
    counters,
    usage,
    stale,
    alerts: { changed: alerts.changed, ended: alerts.ended.map(({ key }) => key) },
    routedChanges,
    evaluated,
    events: packEvents(events),
    gap,
  }
}

function packCalls(calls: readonly TrackedCall[]): { ids: string[]; records: Uint8Array<ArrayBuffer> } {
  const records = new Uint8Array(calls.length * RECORD_BYTES)
  const view = new DataView(records.buffer)
  for (const [i, call] of calls.entries()) writeCall(view, i * RECORD_BYTES, call)
  return { ids: calls.map(({ id }) => id), records }
}

function packEvents(events: NewEvents | undefined): PackedEvents | undefined {
  return events && eventColumns(events)
}
