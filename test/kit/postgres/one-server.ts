import type { TestProject } from 'vitest/node'
import { MISSING_POSTGRES, startPostgres } from './start-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server that the tests of a run share; undefined where there is none. */
    postgres: number | undefined
  }
}

/** One server for all tests of a run that need no more of it than databases. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const server =
    MISSING_POSTGRES === undefined ? await startPostgres({ settings: { max_connections: '600' } }) : undefined
  provide('postgres', server?.port)
  return server?.stop
}
