import { expect, onTestFinished, test } from 'vitest'
import { connect, type Connection } from '../../../src/store/postgres/connection.ts'
import { expectSchema, migrate, MIGRATIONS } from '../../../src/store/postgres/schema.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'

const NEXT = 'ALTER TABLE callwatch.holds ADD COLUMN note text; CREATE TABLE callwatch.notes (text text)'

async function connected(url: string): Promise<Connection> {
  const connection = await connect(url)
  onTestFinished(() => connection.close())
  return connection
}

const version = async ({ run }: Connection) =>
  (await run('SELECT version FROM callwatch.schema_version'))[0]?.['version']
const columns = async ({ run }: Connection) =>
  (
    await run(`
      SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = 'callwatch' ORDER BY name`)
  ).map(({ name }) => String(name))

inPostgres('the schema in PostgreSQL', ({ newDatabase }) => {
  test('is made once, whoever of many is at it', async () => {
    const url = await newDatabase()
    const connections = await Promise.all(Array.from({ length: 8 }, () => connected(url)))
    await Promise.all(connections.map((connection) => migrate(connection)))
    expect(await version(connections[0]!)).toBe(MIGRATIONS.length)
    await expectSchema(connections[7]!)
  })

  test('of an older callwatch is brought forward, by one of those who find it, and keeps what it holds', async () => {
    const url = await newDatabase()
    const connections = await Promise.all(Array.from({ length: 4 }, () => connected(url)))
    await migrate(connections[0]!)
    await connections[0]!.run("INSERT INTO callwatch.holds VALUES ('key', 5)")
    await Promise.all(connections.map((connection) => migrate(connection, [...MIGRATIONS, NEXT])))
    expect(await version(connections[0]!)).toBe(MIGRATIONS.length + 1)
    expect([...(await connections[1]!.run('SELECT * FROM callwatch.holds'))]).toEqual([
      { key: 'key', until: 5, note: null },
    ])
    await expect(migrate(connections[2]!)).rejects.toMatchObject({ kind: 'refused' })
  })

  test('is left as it was by a step that fails', async () => {
    const connection = await connected(await newDatabase())
    await migrate(connection)
    const before = await columns(connection)
    const broken = [...MIGRATIONS, `${NEXT}; CREATE TABLE callwatch.notes (again text)`]
    await expect(migrate(connection, broken)).rejects.toThrow('already exists')
    expect([await version(connection), await columns(connection)]).toEqual([MIGRATIONS.length, before])
    await migrate(connection)
  })

  test('is expected to be there by who only looks, and to be the newest', async () => {
    const connection = await connected(await newDatabase())
    await expect(expectSchema(connection)).rejects.toThrow(
      /holds nothing of callwatch: its name is another one, or callwatch has not run with it yet/,
    )
    await migrate(connection, [...MIGRATIONS, NEXT])
    await connection.run('UPDATE callwatch.schema_version SET version = 0')
    await expect(expectSchema(connection)).rejects.toThrow(/holds nothing of callwatch/)
  })

  test('stands beside the tables of others in the same database', async () => {
    const connection = await connected(await newDatabase())
    await connection.run('CREATE TABLE targets (theirs text)')
    await migrate(connection)
    await connection.run("INSERT INTO targets VALUES ('still theirs')")
  })
})
