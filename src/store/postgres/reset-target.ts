import { StoreError } from '../store.ts'
import type { Session } from './connection.ts'
import { markAllStale } from './rollups.ts'

/** Tables with the target's number. */
const TABLES = [
  'calls',
  'counters',
  'deleted_call_totals',
  'gaps',
  'alerts',
  'usage',
  'evaluations',
  'commits',
  'overviews',
] as const

/**
 * Locks a target's row until the transaction ends: no daemon claims or commits the target meanwhile.
 *
 * @param self the member that asks, if it is one
 * @throws {StoreError} refused: another member owns it
 */
export async function lockForReset({ run }: Session, name: string, self: string | undefined): Promise<void> {
  const [target] = await run('SELECT owner::text FROM callwatch.targets WHERE name = $1 FOR UPDATE', [name])
  const owner = target?.['owner']
  if (typeof owner !== 'string' || owner === self) return
  const alive = 'SELECT name FROM callwatch.members WHERE id = $1::uuid AND ends > statement_timestamp()'
  const [member] = await run(alive, [owner])
  if (member !== undefined) throw ownedError(name, String(member['name']))
}

/** Deletes all rows of a target. */
export async function removeTarget(session: Session, name: string): Promise<void> {
  const { run } = session
  await markAllStale(session, name)
  const number = '(SELECT number FROM callwatch.targets WHERE name = $1)'
  await Promise.all([
    ...TABLES.map((table) => run(`DELETE FROM callwatch.${table} WHERE target = ${number}`, [name])),
    run('DELETE FROM callwatch.targets WHERE name = $1', [name]),
  ])
}

function ownedError(name: string, owner: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} is owned by the daemon ${owner}; stop all daemons on this database, then start one with ` +
      `--reset-target ${name} (one that died counts until its lease has ended)`,
  )
}
