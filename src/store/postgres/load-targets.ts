import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { newLedger, trackRecord, type SyncState } from '../../ledger/state.ts'
import { bytesOf, callOf, finishedSince, ledgerOf, otherTarget, parse } from '../rows.ts'
import type { StoredTarget, TargetIdentity } from '../store.ts'
import type { Row, Session } from './connection.ts'
import { snapshot, transaction } from './transaction.ts'

/** The arguments of `Store.openTarget`. */
export type Wanted = { identity: TargetIdentity; created: number; longestWindow: number }

/** In one order: else two daemons that add the same targets could deadlock. */
const ADD = `
  WITH added AS (
    INSERT INTO callwatch.targets (name, fingerprint, seq, sync)
    SELECT name, fingerprint, 0, sync FROM unnest($1::text[], $2::text[], $3::text[]) AS given (name, fingerprint, sync)
    ORDER BY name
    ON CONFLICT DO NOTHING RETURNING number
  )
  INSERT INTO callwatch.deleted_call_totals (target, quantity, value)
  SELECT number, quantity, 0 FROM added, unnest($4::text[]) AS given (quantity)`

const TARGETS = `
  SELECT place::int, fingerprint, number, sync
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place) JOIN callwatch.targets USING (name)`

/**
 * The rows of a table that belong to targets ($1, with $2 as their `finishedSince`), each with the place of its target among these. OFFSET makes it read each
 * target by the index: else the whole table might be read, for some of its targets.
 */
const rowsOf = (table: string, columns: string, isWanted = 'true') => `
  SELECT place::int, ${columns}
  FROM unnest($1::int[], $2::float8[]) WITH ORDINALITY AS wanted (number, oldest, place),
    LATERAL (SELECT ${columns} FROM callwatch.${table} WHERE target = number AND ${isWanted} OFFSET 0) AS of_target`

const TRACKED = rowsOf('calls', 'id, data', 'tracked')
const EVICTED = rowsOf('calls', 'id, data', `NOT tracked AND finished >= oldest AND status <> ${LOST_CODE}`)
const COUNTERS = rowsOf('counters', 'series, value')
const USAGE = `${rowsOf('usage', 'quarter, minutes')} ORDER BY quarter`
const ALERTS = rowsOf('alerts', 'alert, data')

/**
 * Loads targets, and sets up those that are new: two round trips, three more where one is new.
 *
 * @returns in their order; an error of each that is stored with another fingerprint, or has a row that cannot be read
 */
export async function loadTargets(session: Session, wanted: readonly Wanted[]): Promise<(StoredTarget | Error)[]> {
  const found = await snapshot(session, (reading) => readTargets(reading, wanted))
  const missing = wanted.filter((_, i) => found[i] === undefined)
  if (missing.length === 0) return found.map((loaded) => loaded!)
  await insertTargets(session, missing)
  const added = (await loadTargets(session, missing)).values()
  return found.map((loaded) => loaded ?? added.next().value!)
}

/**
 * Sets up targets that are new, all or none.
 *
 * @throws {StoreError} refused: one is stored with another fingerprint
 */
export async function addTargets(
  session: Session,
  identities: readonly TargetIdentity[],
  created: number,
): Promise<void> {
  await transaction(session, async (adding) => {
    const [, rows] = await Promise.all([
      insertTargets(
        adding,
        identities.map((identity) => ({ identity, created })),
      ),
      adding.run('SELECT name, fingerprint FROM callwatch.targets WHERE name = ANY ($1::text[])', [
        identities.map(({ name }) => name),
      ]),
    ])
    const stored = new Map(rows.map(({ name, fingerprint }) => [name, fingerprint]))
    const other = identities.find(({ name, fingerprint }) => stored.get(name) !== fingerprint)
    if (other !== undefined) throw otherTarget(other.name)
  })
}

async function insertTargets({ run }: Session, added: readonly Omit<Wanted, 'longestWindow'>[]): Promise<void> {
  await run(ADD, [
    added.map(({ identity }) => identity.name),
    added.map(({ identity }) => identity.fingerprint),
    added.map(({ created }) => JSON.stringify(newLedger(created).sync)),
    [...QUANTITIES],
  ])
}

/** @returns in their order; undefined of each that is new */
async function readTargets(
  { run, each }: Session,
  wanted: readonly Wanted[],
): Promise<(StoredTarget | Error | undefined)[]> {
  const results: (StoredTarget | Error | undefined)[] = wanted.map(() => undefined)
  const targets: (StoredTarget & { place: number; number: number; oldest: number })[] = []
  /** What cannot be read of a target is an error of that one alone. */
  const attempt = (place: number, read: () => void) => {
    try {
      if (!(results[place] instanceof Error)) read()
    } catch (error) {
      results[place] = error instanceof Error ? error : new Error(String(error))
    }
  }
  for (const row of await run(TARGETS, [wanted.map(({ identity }) => identity.name)])) {
    const place = Number(row['place']) - 1
    const { identity, longestWindow } = wanted[place]!
    if (row['fingerprint'] !== identity.fingerprint) {
      results[place] = otherTarget(identity.name)
      continue
    }
    attempt(place, () => {
      const ledger = ledgerOf(parse<SyncState>(row['sync']))
      const oldest = finishedSince(ledger.sync, longestWindow)
      const stored = { ledger, alerts: new Map<string, AlertInstance>() }
      results[place] = stored
      targets.push({ ...stored, place, number: Number(row['number']), oldest })
    })
  }
  if (targets.length === 0) return results
  const args = [targets.map(({ number }) => number), targets.map(({ oldest }) => oldest)]
  const readEach = (statement: string, read: (row: Row, target: (typeof targets)[number]) => void) =>
    each(statement, args, (row) => {
      const target = targets[Number(row['place']) - 1]!
      attempt(target.place, () => read(row, target))
    })
  await Promise.all([
    readEach(TRACKED, (call, { ledger, oldest }) => trackRecord(ledger, String(call['id']), bytesOf(call), oldest)),
    readEach(EVICTED, (call, { ledger }) => ledger.finished.add(callOf(call).finish!)),
    readEach(COUNTERS, (row, { ledger }) => ledger.counters.set(String(row['series']), Number(row['value']))),
    readEach(USAGE, (row, { ledger }) => ledger.usage.set(Number(row['quarter']), Number(row['minutes']))),
    readEach(ALERTS, (row, { alerts }) => alerts.set(String(row['alert']), parse<AlertInstance>(row['data']))),
  ])
  return results
}
