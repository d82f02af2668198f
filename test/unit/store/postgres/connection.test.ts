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
})
