import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../src/store/postgres/connection.ts'
import { postgresSql } from '../../../../src/store/postgres/postgres-sql.ts'
import { migrate } from '../../../../src/store/postgres/schema.ts'
import type { Step, Value } from '../../../../src/store/sql.ts'
import { insertInto } from '../../../../src/store/tables.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'

inPostgres('a batch in PostgreSQL', ({ newDatabase }) => {
  async function opened() {
    const connection = await connect(await newDatabase())
    onTestFinished(connection.close)
    await migrate(connection)
    const sql = postgresSql('here', (work) => work(connection))
    const keys = async () => (await sql.all('SELECT key FROM callwatch.pauses ORDER BY key')).map(({ key }) => key)
    return { ...sql, keys }
  }
  const pause = (...rows: (readonly [string, unknown])[]): Step => ({
    statement: insertInto('pauses', ['key', 'until'], 'NOTHING'),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- some are no values
    given: rows as unknown as Value[][],
  })

  test.each<[string, Step, object]>([
    ['cannot be made', pause(['b', 10n]), { name: 'TypeError' }],
    ['is refused', { statement: 'SELECT none_such' }, { kind: 'unavailable' }],
    ['does not change as many rows as it must', { ...pause(['a', 2]), fence: 1 }, { kind: 'stale' }],
  ])('keeps nothing where one of its steps %s', async (_what, step, error) => {
    const { batch, keys } = await opened()
    await expect(batch([pause(['a', 1]), step, pause(['c', 1])])).rejects.toMatchObject(error)
    expect(await keys()).toEqual([])
    await batch([pause(['a', 1]), pause(['c', 1])])
    expect(await keys()).toEqual(['a', 'c'])
  })

  test('has any number of rows, in statements that each are short', async () => {
    const { batch, keys } = await opened()
    const rows = Array.from({ length: 25_001 }, (_, i) => [`${i}`.padStart(5, '0'), i] as const)
    await batch([pause(...rows)])
    expect(await keys()).toHaveLength(25_001)
  })

  test('leaves out a step without rows, whatever its fence', async () => {
    const { batch, keys } = await opened()
    expect(await batch([{ ...pause(), fence: 0 }, pause(['a', 1])])).toEqual([[], []])
    expect(await keys()).toEqual(['a'])
  })

  test('replaces halves of characters, which no text of PostgreSQL has', async () => {
    const { batch, keys } = await opened()
    await batch([pause(['a\ud83d', 1])])
    expect(await keys()).toEqual(['a\ufffd'])
  })

  test('holds no lock for long where its daemon is halted', async () => {
    const { batch } = await opened()
    const setting = { statement: "SELECT current_setting('idle_in_transaction_session_timeout') AS time" }
    const [rows] = await batch([setting, pause(['a', 1])])
    expect(rows).toMatchObject([{ time: '5s' }])
  })
})
