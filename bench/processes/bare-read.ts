import { DatabaseSync } from 'node:sqlite'
import { CALL_COLUMNS } from '../../src/store/call-columns.ts'
import { answer } from './answer.ts'
import { measure } from './measure.ts'

/** Reads the rows that a restart has to read, touches each column, and does nothing with them. */
answer(async ({ path }: { path: string }) => {
  const { measured, result: rows } = await measure(async () => {
    const db = new DatabaseSync(path)
    let [rows, touched] = [0, 0]
    for (const row of db.prepare(`SELECT ${CALL_COLUMNS.join(', ')} FROM calls WHERE tracked`).iterate()) {
      rows += 1
      for (const value of Object.values(row)) if (value !== null) touched += 1
    }
    db.close()
    if (touched < rows) throw new Error('a row without a value')
    return rows
  })
  return { ...measured, rows }
})
