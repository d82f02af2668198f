import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { MIGRATIONS } from '../../../../src/store/migrations.ts'
import { expectSchema, migrate } from '../../../../src/store/sqlite/schema.ts'
import { schemaContract } from '../../../contract/store/schema-contract.ts'

schemaContract({
  migrations: MIGRATIONS.sqlite,
  newPlace: async () => {
    const db = new DatabaseSync(':memory:')
    onTestFinished(() => db.close())
    const run = async (sql: string) => db.prepare(sql).all()
    return {
      migrate: async (migrations) => migrate(db, 'here', migrations),
      expectSchema: async (migrations) => expectSchema(db, 'here', { ...(migrations && { migrations }) }),
      run,
      layout: async () => [
        db.isTransaction,
        await run('PRAGMA user_version'),
        await run('PRAGMA application_id'),
        await run('SELECT sql FROM sqlite_schema ORDER BY name'),
      ],
    }
  },
  table: (name) => name,
})
