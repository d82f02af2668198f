import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { newLedger, trackRecord, type SyncState } from '../../ledger/state.ts'
import { bytesOf, callOf, finishedSince, ledgerOf, otherTarget, parse } from '../rows.ts'
import type { StoredTarget, TargetIdentity } from '../store.ts'
import type { Session } from './connection.ts'
import { snapshot } from './transaction.ts'

/**
 * A target with its number, which it has until it is reset, and the id of its last commit, if the log still has that.
 */
export type Loaded = StoredTarget & { number: number; id: string | undefined }

const TARGET = `
  SELECT fingerprint, number, sync, id::text FROM callwatch.targets
  LEFT JOIN callwatch.commits ON target = number AND commits.seq = targets.seq
  WHERE name = $1`

/** Loads a target, or sets it up where it is new: two round trips, three where it is new. */
export async function loadTarget(
  session: Session,
  identity: TargetIdentity,
  created: number,
  keepFinished: number,
): Promise<Loaded> {
  for (;;) {
    const loaded = (await readTarget(session, identity, keepFinished)) ?? (await addTarget(session, identity, created))
    // Another daemon added it in between.
    if (loaded !== undefined) return loaded
  }
}

async function addTarget(session: Session, { name, fingerprint }: TargetIdentity, created: number) {
  const ledger = newLedger(created)
  const added = await session.run(
    `WITH added AS (
      INSERT INTO callwatch.targets (name, fingerprint, seq, sync) VALUES ($1, $2, 0, $3)
      ON CONFLICT DO NOTHING RETURNING number
    ), settled AS (
      INSERT INTO callwatch.settled (target, quantity, value)
      SELECT number, quantity, 0 FROM added, unnest($4::text[]) AS given (quantity)
    )
    SELECT number FROM added`,
    [name, fingerprint, JSON.stringify(ledger.sync), [...QUANTITIES]],
  )
  const [row] = added
  return row && { ledger, alerts: new Map<string, AlertInstance>(), number: Number(row['number']), id: undefined }
}

async function readTarget(
  session: Session,
  { name, fingerprint }: TargetIdentity,
  keepFinished: number,
): Promise<Loaded | undefined> {
  return snapshot(session, async ({ run, each }) => {
    const [row] = await run(TARGET, [name])
    if (row === undefined) return undefined
    if (row['fingerprint'] !== fingerprint) throw otherTarget(name)
    const { id } = row
    const number = Number(row['number'])
    const ledger = ledgerOf(parse<SyncState>(row['sync']))
    const oldest = finishedSince(ledger.sync, keepFinished)
    const alerts = new Map<string, AlertInstance>()
    await Promise.all([
      each('SELECT id, data FROM callwatch.calls WHERE target = $1 AND tracked', [number], (call) =>
        trackRecord(ledger, String(call['id']), bytesOf(call), oldest),
      ),
      each(
        'SELECT id, data FROM callwatch.calls WHERE target = $1 AND NOT tracked AND finished >= $2',
        [number, oldest],
        (call) => ledger.finished.add(callOf(call).finish!),
      ),
      each('SELECT series, value FROM callwatch.counters WHERE target = $1', [number], ({ series, value }) =>
        ledger.counters.set(String(series), Number(value)),
      ),
      each(
        'SELECT quarter, minutes FROM callwatch.usage WHERE target = $1 ORDER BY quarter',
        [number],
        ({ quarter, minutes }) => ledger.usage.set(Number(quarter), Number(minutes)),
      ),
      each('SELECT alert, data FROM callwatch.alerts WHERE target = $1', [number], ({ alert, data }) =>
        alerts.set(String(alert), parse<AlertInstance>(data)),
      ),
    ])
    return { ledger, alerts, number, id: typeof id === 'string' ? id : undefined }
  })
}
