import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, inject, type TestContext } from 'vitest'
import { connect } from '../../../src/store/postgres/connection.ts'
import { MISSING_POSTGRES, startPostgres, type PostgresOptions, type PostgresServer } from './start-postgres.ts'

/** An empty database under a name that was not taken yet: its address. */
type WithDatabases = { newDatabase: () => Promise<string> }
export type WithServer = WithDatabases & { server: () => PostgresServer }

/**
 * Tests with databases of the PostgreSQL that all tests of a run share (one-server.ts). Where there is none they are skipped, and under `CI=true`
 * they fail; both say how to get it.
 */
export function inPostgres(name: string, tests: (postgres: WithDatabases) => void): void {
  withPostgres(name, () => tests({ newDatabase: async () => newDatabaseOf(inject('postgres')!) }))
}

/** The same with a server of their own, which they may configure, halt and kill. */
export function inOwnPostgres(
  name: string,
  tests: (postgres: WithServer) => void,
  options: PostgresOptions = {},
): void {
  withPostgres(name, () => {
    let server: PostgresServer | undefined
    beforeAll(async () => {
      server = await startPostgres(options)
    }, 120_000)
    afterAll(() => server?.stop(), 60_000)
    tests({ server: () => server!, newDatabase: async () => newDatabaseOf(server!.port) })
  })
}

function withPostgres(name: string, tests: () => void): void {
  if (MISSING_POSTGRES === undefined) {
    describe(name, tests)
    return
  }
  const missing = MISSING_POSTGRES
  if (process.env['CI'] === 'true') {
    describe(name, () => {
      beforeAll(() => {
        throw new Error(missing)
      })
      tests()
    })
    return
  }
  console.warn(`${name} is not tested: ${missing}`)
  describe.skip(`${name} (${missing})`, tests)
}

async function newDatabaseOf(port: number): Promise<string> {
  const address = `postgres://postgres@127.0.0.1:${port}`
  const name = `test_${randomUUID().slice(0, 8)}`
  const connection = await connect(`${address}/postgres`, { readOnly: true })
  await connection.run(`CREATE DATABASE "${name}"`)
  await connection.close()
  return `${address}/${name}`
}

/** Skips a test where there is no PostgreSQL; under `CI=true` it fails instead. */
export function skipWithoutPostgres(context: TestContext): void {
  if (MISSING_POSTGRES === undefined) return
  if (process.env['CI'] === 'true') throw new Error(MISSING_POSTGRES)
  context.skip(MISSING_POSTGRES)
}
