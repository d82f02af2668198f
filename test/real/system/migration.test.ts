import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { connect } from '../../../src/store/postgres/connection.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { nextVersion } from './next-version.ts'
import { exactDifferences, live, settle, systemWorld } from './world.ts'

inPostgres('a store that the version before wrote', ({ newDatabase }) => {
  const firstIds = {
    'a file': ({ CALLWATCH_STORE_PATH: path = '' }) => {
      using db = new DatabaseSync(path, { readOnly: true })
      return db.prepare('SELECT id FROM first_ids').all()
    },
    'a database': async ({ CALLWATCH_STORE_URL: url = '' }) => {
      const connection = await connect(url)
      const rows = await connection.run('SELECT id FROM callwatch.first_ids')
      await connection.close()
      return rows
    },
  }
  test.each([
    ['a file', async () => ({ CALLWATCH_STORE_PATH: join(temporaryFolder(), 'callwatch.db') })],
    ['a database', async () => ({ CALLWATCH_STORE_URL: await newDatabase() })],
  ] as const)(
    'in %s is migrated by the daemon that starts on it, which continues its counts exactly',
    async (kind, newStore) => {
      const [store, main] = [await newStore(), nextVersion()]
      const world = await systemWorld('--speed', '400', '--calls-per-minute', '600', '--history', '250', '--seed', '28')
      const before = await world.startDaemon(store)
      await live(3)
      expect(await before.program.end('SIGTERM')).toBe(0)
      const after = await world.startDaemon(store, main)
      await live(3)
      await settle(world, after)
      const { expected, differences } = await exactDifferences(world, after)
      expect(differences).toEqual([])
      expect(expected.size).toBeGreaterThan(100)
      expect(await after.program.end('SIGTERM')).toBe(0)
      expect((await firstIds[kind](store)).length).toBeGreaterThan(250)
      const refused = world.startDaemon(store)
      await expect(refused).rejects.toThrow(/was written by a newer callwatch/)
    },
  )
})
