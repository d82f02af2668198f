import { StoreError } from '../store-error.ts'
import { checkForDamage, type DamageMessage } from './damage.ts'
import { sqliteEngine } from './engine.ts'
import { openExisting } from './open-database.ts'
import { sqlInPlace } from './sqlite-sql.ts'

// The program that checks a file for damage (damage.ts).

const path = process.argv[2]!
const send = (message: DamageMessage) => process.send?.(message)
try {
  const sql = sqlInPlace(sqliteEngine(openExisting(path, { readOnly: true })), path)
  await checkForDamage(sql, (table, place) => send({ table, place }))
  send({ storeError: undefined })
} catch (error) {
  if (!(error instanceof StoreError)) throw error
  send({ storeError: { kind: error.kind, message: error.message } })
}
process.disconnect?.()
