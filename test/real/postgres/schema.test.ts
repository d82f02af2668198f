import { expect, onTestFinished, test } from 'vitest'
import { connect, type Connection } from '../../../src/store/postgres/connection.ts'
import { MIGRATIONS as ALL, newestVersion } from '../../../src/store/migrations.ts'
import { expectSchema, migrate } from '../../../src/store/postgres/schema.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { schemaContract, withSteps } from '../../contract/store/schema-contract.ts'

const MIGRATIONS = ALL.postgres
const NEWEST = newestVersion(MIGRATIONS)
const NEXT = 'CREATE TABLE callwatch.notes (text text)'
const VERSION = 'SELECT version FROM callwatch.schema_version'
const COLUMNS = `
  SELECT table_name, column_name, data_type FROM information_schema.columns
  WHERE table_schema = 'callwatch' ORDER BY table_name, column_name`

async function connected(url: string): Promise<Connection> {
  const connection = await connect(url)
  onTestFinished(() => connection.close())
  return connection
}

inPostgres('the schema in PostgreSQL', ({ newDatabase }) => {
  schemaContract({
    migrations: MIGRATIONS,
    newPlace: async () => {
      const connection = await connected(await newDatabase())
      return {
        migrate: (migrations) => migrate(connection, migrations),
        expectSchema: (migrations) => expectSchema(connection, { ...(migrations && { migrations }) }),
        run: connection.run,
        layout: async () => [[...(await connection.run(VERSION))], [...(await connection.run(COLUMNS))]],
      }
    },
    table: (name) => `callwatch.${name}`,
  })

  test('is made once, whichever of many connections make it', async () => {
    const url = await newDatabase()
    const connections = await Promise.all(Array.from({ length: 8 }, () => connected(url)))
    await Promise.all(connections.map((connection) => migrate(connection)))
    expect([...(await connections[0]!.run(VERSION))]).toEqual([{ version: NEWEST }])
    await expectSchema(connections[7]!)
  })

  test('is brought forward once, whichever of many connections do so', async () => {
    const url = await newDatabase()
    const connections = await Promise.all(Array.from({ length: 4 }, () => connected(url)))
    await migrate(connections[0]!)
    await Promise.all(connections.map((connection) => migrate(connection, withSteps(MIGRATIONS, NEXT))))
    expect([...(await connections[0]!.run(VERSION))]).toEqual([{ version: NEWEST + 1 }])
  })

  test('is left as it was while another session has locked its tables for long', async () => {
    const url = await newDatabase()
    const [migrating, locking] = [await connect(url, { deadline: 60 }), await connected(url)]
    onTestFinished(migrating.close)
    await migrate(migrating)
    await locking.run('BEGIN; LOCK TABLE callwatch.rollups IN ACCESS SHARE MODE')
    await locking.run('SET idle_in_transaction_session_timeout = 0')
    await expect(migrate(migrating, withSteps(MIGRATIONS, 'TRUNCATE callwatch.rollups'))).rejects.toMatchObject({
      message: expect.stringMatching(/^another session has locked tables of .* for long, as pg_dump does; try again/),
    })
    expect([...(await migrating.run(VERSION))]).toEqual([{ version: NEWEST }])
    await locking.run('ROLLBACK')
  })

  test('stands beside the tables of others in the same database', async () => {
    const connection = await connected(await newDatabase())
    await connection.run('CREATE TABLE public.targets (theirs text)')
    await migrate(connection)
    await connection.run("INSERT INTO public.targets VALUES ('still theirs')")
  })
})
