import { StoreError } from '../store-error.ts'
import { checkForDamage, type DamageMessage } from './damage.ts'
import { engineFor, openExisting } from './open-database.ts'
import { attempting } from './sqlite-error.ts'
import { sqliteSql } from './sqlite-sql.ts'

// The program that checks a file for damage (damage.ts).

const path = process.argv[2]!
const send = (message: DamageMessage) => process.send?.(message)
const { answer } = attempting(path)
try {
  const engine = await answer(() => engineFor(openExisting(path, { readOnly: true })))
  const sql = sqliteSql((request) => answer(() => engine(request)), path)
  await checkForDamage(sql, (table, place) => send({ table, place }))
  send({ storeError: undefined })
} catch (error) {
  if (!(error instanceof StoreError)) throw error
  send({ storeError: { kind: error.kind, message: error.message } })
}
process.disconnect?.()
