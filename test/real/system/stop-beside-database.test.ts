import { expect, test } from 'vitest'
import { connect } from '../../../src/store/postgres/connection.ts'
import { LOCK } from '../../../src/store/postgres/schema.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { eventually } from '../../kit/eventually.ts'
import { runningTime } from '../../kit/running-time.ts'
import { startProgram, type Program } from './program.ts'
import { exactDifferences, live, settle, systemWorld } from './world.ts'

/** From the signal to the end of the process. */
const STOPPED_WITHIN_SECONDS = 10

async function endsInTime({ child, end }: Program): Promise<void> {
  const taken = runningTime(child)
  expect(await end('SIGTERM')).toBe(0)
  expect(taken()).toBeLessThan(STOPPED_WITHIN_SECONDS)
}

inOwnPostgres('a daemon whose database does not answer', ({ newDatabase, server }) => {
  /** Locks all tables; returns what releases them. */
  async function lockTables(url: string): Promise<() => Promise<void>> {
    const locking = await connect(url)
    const tables = await locking.run("SELECT tablename FROM pg_tables WHERE schemaname = 'callwatch'")
    const names = tables.map(({ tablename }) => `callwatch.${String(tablename)}`).join(', ')
    const isLocked = async () => {
      await locking.run('BEGIN')
      return locking.run(`LOCK TABLE ${names}`).then(
        () => true,
        async (error) => {
          // A commit of the daemon may have locked the tables in another order.
          if (!String(error).includes('deadlock')) throw error
          await locking.run('ROLLBACK')
          return false
        },
      )
    }
    while (!(await isLocked()));
    return async () => {
      await locking.run('ROLLBACK')
      await locking.close()
    }
  }
  async function haltServer(): Promise<() => Promise<void>> {
    server().halt()
    return async () => server().resume()
  }

  test.each([
    ['its tables are locked', lockTables, /"level":"warn".*"stopped 9 s after the signal without all answers/],
    ['its server is halted', haltServer, /"stopped/],
  ])(
    'ends within ten seconds of SIGTERM, says so, and continues exactly at the next start: %s',
    async (_why, silence, last) => {
      const url = await newDatabase()
      const env = { CALLWATCH_STORE_URL: url }
      const world = await systemWorld(
        '--speed',
        '1000',
        '--calls-per-minute',
        '600',
        '--history',
        '250',
        '--seed',
        '28',
      )
      const before = await world.startDaemon(env)
      const page = /page at (http:\S+?)"/.exec(before.program.output())![1]!
      await live(3)
      const feed = await fetch(`${page}api/v1/events`, { headers: { accept: 'text/event-stream' } })
      const restore = await silence(url)
      try {
        const reading = fetch(`${page}api/v1/calls?state=finished`).catch(() => undefined)
        await before.program.printed(/the store .*cannot be|cannot be reached|timeout of a statement/)
        await endsInTime(before.program)
        await reading
        await feed.body?.cancel().catch(() => undefined)
      } finally {
        await restore()
      }
      expect(before.program.output().trim().split('\n').at(-1)).toMatch(last)
      const after = await world.startDaemon(env)
      await live(1)
      await settle(world, after)
      const { expected, differences } = await exactDifferences(world, after)
      expect(differences).toEqual([])
      expect(expected.size).toBeGreaterThan(100)
      expect(await after.program.end('SIGTERM')).toBe(0)
    },
  )

  test('ends within ten seconds of SIGTERM while it waits to migrate the store', async () => {
    const url = await newDatabase()
    const locking = await connect(url)
    await locking.run('BEGIN')
    await locking.run(LOCK)
    const program = startProgram(['run'], {
      CALLWATCH_STORE_URL: url,
      CALLWATCH_BASE_URL: 'http://127.0.0.1:9/',
      CALLWATCH_API_KEY: 'a-key-for-the-tests',
      CALLWATCH_HTTP_HOST: '127.0.0.1',
      CALLWATCH_HTTP_PORT: '0',
    })
    await eventually(async () => {
      const waiting = await locking.run("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
      return waiting.length > 0 ? true : undefined
    }, 150)
    await endsInTime(program)
    await locking.run('ROLLBACK')
    await locking.close()
  })
})
