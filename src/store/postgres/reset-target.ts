import { StoreError } from '../store.ts'
import type { Session } from './connection.ts'
import { transaction } from './transaction.ts'

/** What is kept by the target's number. */
const TABLES = ['calls', 'counters', 'alerts', 'usage', 'evaluations', 'commits'] as const

/**
 * Removes all that is kept of a target.
 *
 * @param self the member that asks, if it is one
 * @throws {StoreError} refused: another member owns it
 */
export async function resetTarget(session: Session, name: string, self: string | undefined): Promise<void> {
  await transaction(session, async ({ run }) => {
    // The row is held from here on: nobody claims or commits the target meanwhile.
    const [target] = await run('SELECT number, owner::text FROM callwatch.targets WHERE name = $1 FOR UPDATE', [name])
    if (target === undefined) return
    const { number, owner } = target
    if (typeof owner === 'string' && owner !== self) {
      const alive = 'SELECT name FROM callwatch.members WHERE id = $1::uuid AND ends > statement_timestamp()'
      const [member] = await run(alive, [owner])
      if (member !== undefined) throw ownedError(name, String(member['name']))
    }
    const of = [Number(number)]
    await Promise.all([
      ...TABLES.map((table) => run(`DELETE FROM callwatch.${table} WHERE target = $1`, of)),
      run('DELETE FROM callwatch.targets WHERE number = $1', of),
    ])
  })
}

function ownedError(name: string, owner: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} is being watched by the daemon ${owner}; stop all daemons on this database, then reset the target`,
  )
}
