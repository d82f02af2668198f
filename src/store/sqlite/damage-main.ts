import { StoreError } from '../store-error.ts'
import { checkForDamage, type DamageMessage } from './damage.ts'
import { openExisting } from './open-database.ts'
import { attempt } from './sqlite-error.ts'

// The program that checks a file for damage (damage.ts).

const path = process.argv[2]!
const send = (message: DamageMessage) => process.send?.(message)
try {
  const db = openExisting(path, { readOnly: true })
  attempt(path, () => checkForDamage(db, path, (table, place) => send({ table, place })))
  send({ storeError: undefined })
} catch (error) {
  if (!(error instanceof StoreError)) throw error
  send({ storeError: { kind: error.kind, message: error.message } })
}
process.disconnect?.()
