import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { postgresError } from '../../../src/store/postgres/postgres-error.ts'
import { sqliteError } from '../../../src/store/sqlite/sqlite-error.ts'
import { StoreError } from '../../../src/store/store-error.ts'

const meanings = [
  ['SQLite', sqliteError],
  ['PostgreSQL', postgresError],
] as const

/** What a piece of work throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test.each(meanings)('a bug of callwatch is no failure of %s, and stays what it is', (_name, meaningOf) => {
  const unbindable = thrownBy(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value that types would not let through
    return new DatabaseSync(':memory:').prepare('SELECT ?').get(Symbol('x') as unknown as number)
  })
  const bugs = [new TypeError('x is not a function'), new RangeError('out of range'), new ReferenceError('x')]
  for (const bug of [...bugs, unbindable]) {
    expect(bug).toBeInstanceOf(Error)
    expect(meaningOf(bug, 'the place')).toBe(bug)
  }
})

test('what SQLite says is a problem of the store', () => {
  const error = thrownBy(() => new DatabaseSync(':memory:').exec('SELECT * FROM nowhere'))
  expect(sqliteError(error, 'x.db')).toBeInstanceOf(StoreError)
  const missing = thrownBy(() => new DatabaseSync('/nowhere/at/all.db'))
  expect(sqliteError(missing, 'x.db')).toBeInstanceOf(StoreError)
})
