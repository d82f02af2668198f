import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'

inOwnPostgres('a reload with another user and password of the database', ({ newDatabase, server }) => {
  test('is taken, and new connections use them', async () => {
    const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 1, history: 0 })
    onTestFinished(simulator.close)
    const database = await newDatabase()
    const admin = await server().connect()
    onTestFinished(() => admin.close())
    const name = new URL(database).pathname.slice(1)
    for (const user of ['first', 'second']) {
      await admin.run(`CREATE ROLE ${user} LOGIN PASSWORD 'hunter2'`)
      server().demandPasswords(user)
    }
    await admin.run(
      `GRANT first TO second; ALTER ROLE second SET role = 'first'; ALTER DATABASE "${name}" OWNER TO first`,
    )
    const storeOf = (login: string) => ({
      url: database.replace('postgres@', `${login}@`),
      history: 86_400,
      lease: 5,
    })
    const running = await daemonInProcess(simulator.url, {}, { store: storeOf('first:hunter2') })
    await running.recovered()
    for (const login of ['first:hunter3', 'second:hunter2']) {
      await admin.run(`ALTER ROLE first PASSWORD 'hunter3'`)
      const alerts = login.startsWith('first') ? [ANY_CALL] : []
      expect(await running.reload({ store: storeOf(login), alerts })).toMatchObject({
        problems: [],
        changed: ['store', 'alerts'],
      })
      await admin.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
      await running.recovered()
      // Connections that were ended are listed for a moment.
      const users = () => admin.run('SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = $1', [name])
      await expect.poll(users, { timeout: 10_000 }).toMatchObject([{ usename: login.split(':')[0] }])
    }
    expect(running.log.filter(({ msg }) => msg.includes('hunter'))).toEqual([])
  })
})
