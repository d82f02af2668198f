import type { DatabaseSync } from 'node:sqlite'
import { PHASE_AT, STATUS_AT } from '../../ledger/call-record.ts'
import { BASELINE_CODE, LOST_CODE } from '../../ledger/history-columns.ts'
import { quarterHourOf } from '../../ledger/usage.ts'
import type { rollupsIn } from './rollups.ts'

/** A code of a record, from 0 to 8. */
const codeAt = (offset: number) => `CAST(hex(substr(data, ${offset + 1}, 1)) AS INTEGER)`

/** The rows of targets that leave the configuration, and come back to it. Nothing here begins a transaction: the caller does. */
export function removedTargets(db: DatabaseSync, { markStale }: Pick<ReturnType<typeof rollupsIn>, 'markStale'>) {
  const find = db.prepare("SELECT number, removed, sync ->> 'clockSkew' AS skew FROM targets WHERE name = ?")
  const note = db.prepare('UPDATE targets SET removed = ? WHERE number = ?')
  const lose = db.prepare(`
    UPDATE calls SET finished = :at, noticed = :at, status = ${LOST_CODE}
    WHERE target = :number AND finished IS NULL AND status <> ${BASELINE_CODE}`)
  const reopen = db.prepare(`
    UPDATE calls SET finished = NULL, noticed = NULL, status = ${codeAt(STATUS_AT)}
    WHERE target = ? AND finished = ? AND tracked = 1 AND ${codeAt(PHASE_AT)} = 0`)
  return {
    /** callwatch does not see the ends of its open calls: their columns mark them as lost from now on (the host's clock); their records stay. */
    remove: (name: string, now: number): void => {
      const { number = 0, removed, skew } = find.get(name) ?? {}
      if (removed !== null) return
      const at = now + Number(skew)
      lose.run({ at, number })
      note.run(at, number)
      markStale(Number(number), [quarterHourOf(at)])
    },
    /** If it was removed, its calls are again what their records say. */
    restore: (name: string): void => {
      const { number = 0, removed = null } = find.get(name) ?? {}
      if (removed === null) return
      reopen.run(number, removed)
      note.run(null, number)
      markStale(Number(number), [quarterHourOf(Number(removed))])
    },
  }
}
