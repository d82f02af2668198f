import { afterAll, beforeAll, describe, type TestContext } from 'vitest'
import { MISSING_POSTGRES, startPostgres, type PostgresOptions, type PostgresServer } from './start-postgres.ts'

/** A server, and an empty database of it under a name that was not taken yet: its address. */
export type InPostgres = { server: () => PostgresServer; newDatabase: () => Promise<string> }

/**
 * Tests with a real PostgreSQL, one server for all of them. Where there is none they are skipped, and under `CI=true` they
 * fail; both say how to get it.
 */
export function inPostgres(name: string, tests: (postgres: InPostgres) => void, options: PostgresOptions = {}): void {
  if (MISSING_POSTGRES !== undefined && process.env['CI'] !== 'true') {
    console.warn(`${name} is not tested: ${MISSING_POSTGRES}`)
    const none = (): never => {
      throw new Error(MISSING_POSTGRES)
    }
    describe.skip(`${name} (${MISSING_POSTGRES})`, () => tests({ server: none, newDatabase: none }))
    return
  }
  describe(name, () => {
    let server: PostgresServer | undefined
    let databases = 0
    beforeAll(async () => {
      if (MISSING_POSTGRES !== undefined) throw new Error(MISSING_POSTGRES)
      server = await startPostgres(options)
    }, 120_000)
    afterAll(() => server?.stop(), 60_000)
    tests({ server: () => server!, newDatabase: () => server!.database(`test_${++databases}`) })
  })
}

/** Skips a test where there is no PostgreSQL; under `CI=true` it fails instead. */
export function skipWithoutPostgres(context: TestContext): void {
  if (MISSING_POSTGRES === undefined) return
  if (process.env['CI'] === 'true') throw new Error(MISSING_POSTGRES)
  context.skip(MISSING_POSTGRES)
}
