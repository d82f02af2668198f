import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import { QUANTITIES } from '../ledger/balance.ts'
import { newLedger, indexCall, type SyncState } from '../ledger/state.ts'
import { addCall } from '../ledger/finished-calls.ts'
import { quarterHourOf } from '../ledger/usage.ts'
import { LOST_CODE } from '../ledger/call-codes.ts'
import { batched } from './batched.ts'
import type { Cluster } from './cluster.ts'
import { CALL_COLUMNS, callOf, IS_OPEN } from './call-columns.ts'
import type { EventLog } from './events.ts'
import type { NotifiedPart } from './notified.ts'
import { markAllStale, markStale } from './rollups.ts'
import { renameTargets } from './rename-targets.ts'
import { fenced, parse, list, type Row, type Sql, type Step } from './sql.ts'
import { StoreError } from './store-error.ts'
import type { NewEvents, StoredTarget, TargetIdentity, TargetStore } from './store.ts'
import { insertInto, TABLES_OF_TARGETS } from './tables.ts'

export type Targets = ReturnType<typeof targetsOf>

export type TargetsOptions = {
  notified: Pick<NotifiedPart, 'writeEpisodes'>
  events: Pick<EventLog, 'log'>
  /** Undefined if the daemon does not share its store. */
  cluster: Cluster | undefined
}

/** The arguments of `openTarget`. */
type TargetToOpen = { identity: TargetIdentity; created: number | undefined; longestWindow: number }

/** The most targets that are read together. */
const BATCH = 200

/** Sorted, because two daemons that add the same targets in different orders could deadlock. */
const ADD = insertInto('targets', ['name', 'fingerprint', 'seq', 'sync', 'epoch'], 'NOTHING')
const ADD_TOTALS = `
  INSERT INTO callwatch.deleted_call_totals (target, quantity, value)
  SELECT number, quantity, 0 FROM given(name text, quantity text) JOIN callwatch.targets USING (name) WHERE true
  ON CONFLICT DO NOTHING`
/** Those of these names that are stored with another fingerprint. */
const OTHERS = `
  SELECT name FROM given(name text, fingerprint text) JOIN callwatch.targets USING (name)
  WHERE targets.fingerprint <> given.fingerprint ORDER BY name`
const FIND = `
  SELECT number, name, fingerprint, sync, removed FROM callwatch.targets WHERE name IN texts($1)`

const CALLS = `SELECT ${CALL_COLUMNS.join(', ')} FROM callwatch.calls WHERE target = $1`
const TRACKED = `${CALLS} AND tracked`
const EVICTED = `${CALLS} AND NOT tracked AND finished >= $2 AND status <> ${LOST_CODE}`

/** Skips a sequence number, so that the next commit of an owner that does not know of the change is stale. */
const DISOWN = 'UPDATE callwatch.targets SET owner = NULL, seq = $2, sync = $3 WHERE number = $1'
/** Marks a target as removed. callwatch does not see the ends of its open calls. */
const REMOVE = 'UPDATE callwatch.targets SET removed = $2 WHERE number = $1 AND removed IS NULL'
const LOSE_CALLS = `UPDATE callwatch.calls SET unseen_since = $2 WHERE target = $1 AND ${IS_OPEN}`
const RESTORE = 'UPDATE callwatch.targets SET removed = NULL WHERE number = $1 AND removed IS NOT NULL'
const FIND_CALLS =
  'UPDATE callwatch.calls SET unseen_since = NULL WHERE target = $1 AND finished = $2 AND unseen_since IS NOT NULL'

/** The targets of a store. */
export function targetsOf(sql: Sql, { cluster, ...parts }: TargetsOptions) {
  /** The number of a target changes only if it is reset. */
  const numbers = new Map<string, number>()

  async function numberOf(name: string): Promise<number | undefined> {
    if (numbers.has(name)) return numbers.get(name)
    const [row] = await sql.all('SELECT number FROM callwatch.targets WHERE name = $1', [name])
    if (row !== undefined) numbers.set(name, Number(row['number']))
    return numbers.get(name)
  }

  const open = batched(
    async (targets: readonly TargetToOpen[]): Promise<(StoredTarget | Error)[]> => {
      const found = await read(sql, targets, numbers)
      const missing = targets.filter((_, i) => found[i] === undefined)
      for (const [created, ofThen] of Map.groupBy(missing, (one) => one.created))
        if (created !== undefined) await addTargets(sql, ofThen.map(({ identity }) => identity), created) // oxfmt-ignore
      const added = (missing.length === 0 ? [] : await read(sql, missing, numbers)).values()
      return found.map((one, i) => one ?? added.next().value ?? gone(targets[i]!.identity.name))
    },
    { most: BATCH, isEager: cluster === undefined },
  )

  const methods: Omit<TargetStore, 'commit'> = {
    openTarget: (identity, created, longestWindow) => open({ identity, created, longestWindow }),
    renameTargets: (renames) => sql.transaction((renaming) => renameTargets(renaming, renames, cluster), 'long'),
    resetTarget: async (name, changes, logged) => {
      await sql.transaction(async (resetting) => {
        const number = await lock(resetting, name)
        if (number === undefined) return
        await cluster?.expectResettable(resetting, name)
        await endAlerts(resetting, parts, { name, number }, changes, logged)
        await resetting.batch(deleteTarget(number, cluster))
      }, 'long')
      numbers.delete(name)
      cluster?.forget(name)
    },
    strayTargets: (targets: readonly string[]) => strayTargets(sql, targets),
    expireAlerts: async (name, changes, logged, removed) => {
      await sql.transaction(async (expiring) => {
        const number = await lock(expiring, name)
        if (number === undefined) return
        const [row] = await expiring.all('SELECT sync, removed FROM callwatch.targets WHERE number = $1', [number])
        const sync = parse<SyncState>(row!['sync'])
        const seq = sync.seq + 1
        const at = (removed ?? 0) + (sync.clockSkew ?? 0)
        await expiring.batch([{ statement: DISOWN, args: [number, seq, JSON.stringify({ ...sync, seq })] }])
        await endAlerts(expiring, parts, { name, number }, changes, logged)
        const isRemoved = removed !== undefined && row!['removed'] === null
        await expiring.batch([
          ...(isRemoved ? [REMOVE, LOSE_CALLS].map((statement) => ({ statement, args: [number, at] })) : []),
          markStale(isRemoved ? [[number, quarterHourOf(at)]] : []),
          // Otherwise a target that is added again later would show its old alerts.
          ...(cluster?.tables ?? []).map((table) => deleteOf(table, number)),
        ])
      })
    },
  }
  return { methods, numberOf }
}

/**
 * Creates those of these targets that are new, in one transaction.
 *
 * @param created the host's clock (UNIX seconds), for new targets
 * @throws {StoreError} refused: one of them is stored with another fingerprint; then none is added
 */
export async function addTargets(sql: Sql, identities: readonly TargetIdentity[], created: number): Promise<void> {
  const sync = JSON.stringify(newLedger(created).sync)
  const added = identities.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await sql.transaction(async (adding) => {
    const [, , others] = await adding.batch([
      { statement: ADD, given: added.map(({ name, fingerprint }) => [name, fingerprint, 0, sync, 0]) },
      { statement: ADD_TOTALS, given: added.flatMap(({ name }) => QUANTITIES.map((quantity) => [name, quantity])) },
      { statement: OTHERS, given: added.map(({ name, fingerprint }) => [name, fingerprint]) },
    ])
    if (others!.length > 0) throw otherTarget(String(others![0]!['name']))
  })
}

/**
 * Reads targets, and remembers their numbers.
 *
 * @returns in the same order: undefined for a new target, an error for one that is another target or cannot be read
 */
async function read(
  sql: Sql,
  targets: readonly TargetToOpen[],
  numbers: Map<string, number>,
): Promise<(StoredTarget | Error | undefined)[]> {
  const names = list(targets.map(({ identity }) => identity.name))
  const removed: Row[] = []
  const found = await sql.transaction(async (reading) => {
    const rows = new Map((await reading.all(FIND, [names])).map((row) => [String(row['name']), row]))
    const load = async ({ identity, longestWindow }: TargetToOpen) => {
      const row = rows.get(identity.name)
      if (row === undefined) return undefined
      if (row['fingerprint'] !== identity.fingerprint) return otherTarget(identity.name)
      numbers.set(identity.name, Number(row['number']))
      if (row['removed'] !== null) removed.push(row)
      return readTarget(reading, row, longestWindow)
    }
    return Promise.all(targets.map(load))
  }, 'snapshot')
  await restore(sql, removed)
  return found
}

async function restore(sql: Sql, removed: readonly Row[]): Promise<void> {
  const inOrder = removed.toSorted((a, b) => Number(a['number']) - Number(b['number']))
  const steps = inOrder.flatMap(({ number, removed: at }): Step[] => [
    { statement: RESTORE, args: [Number(number)] },
    { statement: FIND_CALLS, args: [Number(number), Number(at)] },
    markStale([[Number(number), quarterHourOf(Number(at))]]),
  ])
  if (steps.length > 0) await sql.batch(steps)
}

/** Ends all alerts of a target. If several daemons end the same alerts, only one does. */
async function endAlerts(
  ending: Sql,
  { notified, events }: Omit<TargetsOptions, 'cluster'>,
  { name, number }: { name: string; number: number },
  all: readonly Notification[],
  logged: NewEvents | undefined,
): Promise<void> {
  const statement = 'DELETE FROM callwatch.alerts WHERE target = $1 RETURNING alert, data'
  const [ended] = await ending.batch([{ statement, args: [number] }])
  const keys = new Set(ended!.map(({ alert }) => String(alert)))
  const changes = all.filter(({ key }) => keys.has(key))
  // Its owner may have committed since the alerts were read.
  const firing = ended!.filter(({ data }) => parse<AlertInstance>(data).state !== 'pending')
  if (firing.some(({ alert }) => !changes.some(({ key }) => key === alert))) throw fenced()
  await ending.batch([...notified.writeEpisodes(changes), ...(keys.size > 0 ? events.log(name, logged) : [])])
}

async function strayTargets(sql: Sql, targets: readonly string[]) {
  const rows = await sql.all(
    `SELECT name, data FROM callwatch.targets LEFT JOIN callwatch.alerts ON target = number
    WHERE NOT name IN texts($1) AND (removed IS NULL OR data IS NOT NULL) ORDER BY name, alert`,
    [list(targets)],
  )
  const alertsOf = (found: readonly Row[]) =>
    found.flatMap(({ data }) => (data === null ? [] : parse<AlertInstance>(data)))
  const byTarget = Map.groupBy(rows, ({ name }) => String(name))
  return [...byTarget].map(([target, found]) => ({ target, alerts: alertsOf(found) }))
}

/** Deletes all rows of a target. */
export function deleteTarget(number: number, cluster: Cluster | undefined): Step[] {
  return [
    ...markAllStale(number),
    ...[...TABLES_OF_TARGETS, ...(cluster?.tables ?? [])].map((table) => deleteOf(table, number)),
    { statement: 'DELETE FROM callwatch.targets WHERE number = $1', args: [number] },
  ]
}

/** Deletes a target's rows of a table. */
function deleteOf(table: string, number: number): Step {
  return { statement: `DELETE FROM callwatch.${table} WHERE target = $1`, args: [number] }
}

/**
 * Locks the row of a target until the transaction ends, so that no daemon acquires or commits it meanwhile.
 *
 * @returns its number
 */
async function lock(sql: Sql, name: string): Promise<number | undefined> {
  const [row] = await sql.all('SELECT number FROM callwatch.targets WHERE name = $1 FOR UPDATE', [name])
  return row && Number(row['number'])
}

/** Reads one target. If a part of it cannot be read, only this target fails. */
async function readTarget(sql: Sql, row: Row, longestWindow: number): Promise<StoredTarget | Error> {
  const number = Number(row['number'])
  const problems: Error[] = []
  const attempt = (read: () => void) => {
    try {
      if (problems.length === 0) read()
    } catch (error) {
      problems.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const ledger = newLedger(0)
  attempt(() => (ledger.sync = parse<SyncState>(row['sync'])))
  const { created, lastSuccess = created, previousSuccess = lastSuccess } = ledger.sync
  // Finished calls are needed for windows since then.
  const oldest = Math.min(previousSuccess, lastSuccess) - longestWindow
  const alerts = new Map<string, AlertInstance>()
  const [counters, usage, instances] = await Promise.all([
    sql.all('SELECT series, value FROM callwatch.counters WHERE target = $1', [number]),
    sql.all('SELECT quarter, minutes FROM callwatch.usage WHERE target = $1 ORDER BY quarter', [number]),
    sql.all('SELECT alert, data FROM callwatch.alerts WHERE target = $1', [number]),
    sql.each(TRACKED, [number], (values) =>
      attempt(() => {
        const call = callOf(values)
        indexCall(ledger, call)
        if ((call.finish?.at ?? -Infinity) >= oldest) addCall(ledger.finished, call)
      }),
    ),
    sql.each(EVICTED, [number, oldest], (values) => attempt(() => addCall(ledger.finished, callOf(values)))),
  ])
  for (const { series, value } of counters) ledger.counters.set(String(series), Number(value))
  for (const { quarter, minutes } of usage) ledger.usage.set(Number(quarter), Number(minutes))
  attempt(() => {
    for (const { alert, data } of instances) alerts.set(String(alert), parse<AlertInstance>(data))
  })
  return problems[0] ?? { ledger, alerts }
}

function gone(name: string): StoreError {
  return new StoreError('stale', `the store has no target ${name} any more: it was renamed or reset`)
}

/** The store has another target under this name. */
function otherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} had another address, on_behalf_of or query when its calls were counted; ` +
      `give the new one another name, or run with --reset-target ${name} to count from nothing`,
  )
}
