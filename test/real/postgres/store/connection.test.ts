import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../src/store/postgres/connection.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'

inPostgres('a connection to PostgreSQL', ({ newDatabase }) => {
  test('has the rows of a statement, and no others, after one that failed in the middle of its rows', async () => {
    const connection = await connect(await newDatabase())
    onTestFinished(() => connection.close())
    for (let round = 0; round < 3; round++) {
      const failing = connection.run('SELECT 1 / (40 - i) AS n FROM generate_series(1, 50) AS i')
      await expect(failing).rejects.toThrow(/division by zero/)
      const rows = await connection.run('SELECT i AS n FROM generate_series(1, 3) AS i')
      expect(Object.keys(rows)).toEqual(['0', '1', '2'])
      expect(rows.map(({ n }) => n)).toEqual([1, 2, 3])
    }
  })

  test.each([
    [
      'is dropped by an answer about the server',
      ['08006', '25006', '53100', '53200', '57P01', '57P03', '57P05', '58030'],
    ],
    [
      'stays after an answer about the statement',
      ['22012', '23505', '25P02', '40P01', '53400', '55P03', '57014', 'XX000'],
    ],
  ])('%s', async (what, codes) => {
    const url = await newDatabase()
    for (const code of codes) {
      const connection = await connect(url)
      onTestFinished(() => connection.close())
      const failing = connection.run(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`)
      await expect(failing).rejects.toMatchObject({ cause: { code } })
      expect([code, connection.isDropped()]).toEqual([code, what.startsWith('is dropped')])
    }
  })
})
