import { expect, test } from 'vitest'
import { newestVersion, type MIGRATIONS } from '../../../src/store/migrations.ts'

/** How one kind of store gets its schema. */
type Migrations = (typeof MIGRATIONS)['sqlite']

/** A database in which a schema may be, and the functions of its store for that. */
export type SchemaPlace = {
  migrate: (migrations?: Migrations) => Promise<void>
  expectSchema: (migrations?: Migrations) => Promise<unknown>
  run: (sql: string) => Promise<Record<string, unknown>[]>
  /** Tables and columns, with the version. */
  layout: () => Promise<unknown>
}

type SchemaContractOptions = {
  /** As the program has them. */
  migrations: Migrations
  newPlace: () => Promise<SchemaPlace>
  /** How a table is called in SQL. */
  table: (name: string) => string
}

/** The same with further steps. */
export function withSteps(migrations: Migrations, ...steps: readonly string[]): Migrations {
  return { ...migrations, steps: [...migrations.steps, ...steps] }
}

/** What each store promises of its schema, shown with two made-up versions after its own. */
export function schemaContract({ migrations, newPlace, table }: SchemaContractOptions): void {
  const newest = newestVersion(migrations)
  const second = `ALTER TABLE ${table('pauses')} ADD COLUMN note TEXT; CREATE TABLE ${table('notes')} (text TEXT)`
  const third = `ALTER TABLE ${table('notes')} ADD COLUMN author TEXT`
  const insert = `INSERT INTO ${table('pauses')} (key, until) VALUES ('key', 5)`

  test('a schema of an older version is brought forward step by step, and keeps what it holds', async () => {
    const { migrate, run, expectSchema } = await newPlace()
    await migrate()
    await run(insert)
    await migrate(withSteps(migrations, second, third))
    await expectSchema(withSteps(migrations, second, third))
    expect([...(await run(`SELECT * FROM ${table('pauses')}`))]).toEqual([{ key: 'key', until: 5, note: null }])
    await run(`INSERT INTO ${table('notes')} (text, author) VALUES ('a', 'b')`)
  })

  test('a schema is left as it was by a step that fails', async () => {
    const { migrate, layout, expectSchema } = await newPlace()
    await migrate()
    const before = await layout()
    const failing = `${second}; CREATE TABLE ${table('notes')} (again TEXT)`
    await expect(migrate(withSteps(migrations, failing))).rejects.toThrow('already exists')
    expect(await layout()).toEqual(before)
    await expectSchema()
  })

  test('a schema of the newest version is left alone', async () => {
    const { migrate, run, layout } = await newPlace()
    await migrate()
    await run(insert)
    const before = await layout()
    await migrate()
    expect(await layout()).toEqual(before)
    expect([...(await run(`SELECT * FROM ${table('pauses')}`))]).toEqual([{ key: 'key', until: 5 }])
  })

  test('a schema of a newer version is refused, by daemons and readers', async () => {
    const { migrate, expectSchema } = await newPlace()
    await migrate(withSteps(migrations, second))
    const newer = {
      kind: 'refused',
      message: expect.stringContaining(`newer callwatch (schema ${newest + 1}, this one knows ${newest}); up`),
    }
    await expect(migrate()).rejects.toMatchObject(newer)
    await expect(expectSchema()).rejects.toMatchObject(newer)
  })

  test('no schema, or an older one, is refused by readers, with what to do', async () => {
    const { migrate, expectSchema } = await newPlace()
    await expect(expectSchema()).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/ contains no callwatch store: check the name, or start .callwatch run. with it/),
    })
    await migrate()
    await expect(expectSchema(withSteps(migrations, second))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(
        `older callwatch (schema ${newest}, this one reads ${newest + 1}); let this one's \`callwatch run\` use`,
      ),
    })
  })
}
