import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { newLedger, rememberRecord, type Facts } from '../../ledger/state.ts'
import { callOf } from '../call-row.ts'
import { StoreError, type StoredTarget, type TargetIdentity } from '../store.ts'
import type { Session } from './connection.ts'
import { snapshot } from './transaction.ts'

/**
 * A target with its number, under which it is the same for as long as it is not reset, and the id of its last commit, if
 * the log still has that.
 */
export type Loaded = StoredTarget & { number: number; id: string | undefined }

const TARGET = `
  SELECT fingerprint, number, facts, id::text FROM callwatch.targets
  LEFT JOIN callwatch.commits ON target = number AND commits.seq = targets.seq
  WHERE name = $1`

/** Loads a target, or sets it up where it is new: it takes two flights of statements, three where it is new. */
export async function loadTarget(
  session: Session,
  identity: TargetIdentity,
  created: number,
  keepFinished: number,
): Promise<Loaded> {
  for (;;) {
    const loaded = (await readTarget(session, identity, keepFinished)) ?? (await addTarget(session, identity, created))
    // It was added by another one in between.
    if (loaded !== undefined) return loaded
  }
}

async function addTarget(session: Session, { name, fingerprint }: TargetIdentity, created: number) {
  const ledger = newLedger(created)
  const added = await session.run(
    `WITH added AS (
      INSERT INTO callwatch.targets (name, fingerprint, seq, facts) VALUES ($1, $2, 0, $3)
      ON CONFLICT DO NOTHING RETURNING number
    ), settled AS (
      INSERT INTO callwatch.settled (target, quantity, value)
      SELECT number, quantity, 0 FROM added, unnest($4::text[]) AS given (quantity)
    )
    SELECT number FROM added`,
    [name, fingerprint, JSON.stringify(ledger.facts), [...QUANTITIES]],
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
    const facts = parse<Facts>(row['facts'])
    const ledger = newLedger(facts.created)
    ledger.facts = facts
    const { lastGood = facts.created, previousGood = lastGood } = facts
    const oldest = Math.min(previousGood, lastGood - keepFinished)
    const alerts = new Map<string, AlertInstance>()
    await Promise.all([
      each('SELECT id, data FROM callwatch.calls WHERE target = $1 AND remembered', [number], ({ id, data }) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is bytea
        rememberRecord(ledger, String(id), data as Uint8Array, oldest)
      }),
      each(
        'SELECT id, data FROM callwatch.calls WHERE target = $1 AND NOT remembered AND finished >= $2',
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

function otherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} had another address, on_behalf_of or query when its calls were counted; ` +
      `give the new one another name, or run with --reset-target ${name} to count from nothing`,
  )
}

/** JSON that this store itself wrote: T is what it was written from. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}
