import type { TestProject } from 'vitest/node'
import { MISSING_POSTGRES, startPostgres, type PostgresServer } from './start-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server that the tests of a run share; undefined where there is none. */
    postgres: number | undefined
  }
}

let server: PostgresServer | undefined

/** One server for all tests of a run that need no more of it than databases. */
export async function setup({ provide }: TestProject): Promise<void> {
  if (MISSING_POSTGRES === undefined) server = await startPostgres({ settings: { max_connections: '600' } })
  provide('postgres', server?.port)
}

export async function teardown(): Promise<void> {
  await server?.stop()
}
