import type { DatabaseSync } from 'node:sqlite'
import { BASELINE_CODE, historyColumns, LOST_CODE } from '../../ledger/history-columns.ts'
import type { SyncState } from '../../ledger/state.ts'
import { quarterHourOf } from '../../ledger/usage.ts'
import { callOf, parse } from '../rows.ts'
import type { rollupsIn } from './rollups.ts'

/** The rows of targets that leave the configuration, and come back to it. Nothing here begins a transaction: the caller does. */
export function removedTargets(db: DatabaseSync, rollups: Pick<ReturnType<typeof rollupsIn>, 'markStale'>) {
  const statements = {
    find: db.prepare('SELECT number, sync, removed FROM targets WHERE name = ?'),
    note: db.prepare('UPDATE targets SET removed = ? WHERE number = ?'),
    lose: db.prepare(`
      UPDATE calls SET finished = :at, noticed = :at, status = ${LOST_CODE}
      WHERE target = :number AND finished IS NULL AND status <> ${BASELINE_CODE}`),
    lost: db.prepare('SELECT id, data FROM calls WHERE target = ? AND finished = ? AND tracked = 1'),
    reopen: db.prepare('UPDATE calls SET finished = NULL, noticed = NULL, status = ? WHERE target = ? AND id = ?'),
  }
  return {
    /** Nobody sees the ends of its open calls: their columns say that they are lost from now on (the host's clock); their records stay. */
    remove: (name: string, now: number): void => {
      const row = statements.find.get(name)
      if (row?.['removed'] !== null) return
      const number = Number(row['number'])
      const at = now + (parse<SyncState>(row['sync']).clockSkew ?? 0)
      statements.lose.run({ at, number })
      statements.note.run(at, number)
      rollups.markStale(number, [quarterHourOf(at)])
    },
    /** Its calls are as they were, if it was removed. */
    restore: (name: string): void => {
      const { number, removed = null } = statements.find.get(name) ?? {}
      if (number === undefined || removed === null) return
      for (const call of statements.lost.all(number, removed).map(callOf))
        if (call.phase === 'open') statements.reopen.run(historyColumns(call).status, number, call.id)
      statements.note.run(null, number)
      rollups.markStale(Number(number), [quarterHourOf(Number(removed))])
    },
  }
}
