import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { openPostgresBeside } from '../../../src/store/open-postgres.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../../src/store/open-postgres.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, contents, seen } from '../../kit/ledger/seen.ts'
import { cuttingProxy } from '../../kit/postgres/cutting-proxy.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { eventually } from '../../kit/eventually.ts'
import { DAY, episodesIn, NO_ALERTS, notification } from '../../kit/store/place.ts'
import { joined, openShared, owner, replicaOf } from '../../kit/store/postgres/daemon.ts'

const WITHIN_SECONDS = 60
const unavailable = (message: RegExp) => ({ kind: 'unavailable', message: expect.stringMatching(message) })
const refused = (message: RegExp) => ({ kind: 'refused', message: expect.stringMatching(message) })

async function proxied(url: string) {
  const proxy = await cuttingProxy(url)
  onTestFinished(() => proxy.close())
  return proxy
}

inOwnPostgres('a database that lets its daemons down', ({ newDatabase, server }) => {
  test.each([
    ['of a commit without changes of alerts', []],
    ['of one with them', [notification]],
  ])('and loses the answer %s: the log tells that it was kept', async (_which, notifications) => {
    const proxy = await proxied(await newDatabase())
    const { store, ledger, next, sees } = await owner(proxy.url)
    await sees('b')
    const commit = { ...next('c'), alerts: { ...NO_ALERTS, notifications } }
    const cut = proxy.cutAnswerToCommit()
    await expect(store.commit('a', commit)).rejects.toMatchObject(unavailable(/cannot be reached/))
    await cut
    const again = await replicaOf(store)
    applyDelta(ledger, commit.ledger, DAY)
    expect(contents(again.ledger)).toEqual(contents(ledger))
    await again.sees('d')
    expect(contents((await replicaOf(store)).ledger)).toEqual(contents(again.ledger))
    expect(await episodesIn(store)).toHaveLength(notifications.length)
  })

  test('and falls silent: every call fails within its deadline, and works once it answers again', async () => {
    const proxy = await proxied(await newDatabase())
    // The deadline is by a clock that stands while the database works, however slow this machine is.
    const clock = virtualClock()
    const { store, next, sees } = await owner(proxy.url, 'one', { deadline: 0.5, clock })
    await sees('b')
    proxy.stall(true)
    const commits = Array.from({ length: 20 }, (_, i) => store.commit('a', next(`call ${i}`)))
    const asked = Promise.allSettled([...commits, store.cluster.renew('{}'), store.silences(0)])
    let isOver = false
    void asked.then(() => (isOver = true))
    // Until all of them are sent.
    for (const _time of [1, 2, 3]) await clock.advance(0)
    await clock.advance(0.49)
    expect(isOver).toBe(false)
    await clock.advance(0.01)
    for (const answer of await asked) {
      expect(answer).toMatchObject({ status: 'rejected', reason: unavailable(/nothing was heard for 0.5 s/) })
    }
    proxy.stall(false)
    let last: Awaited<ReturnType<typeof replicaOf>> | undefined
    await eventually(async () => {
      // What was sent may arrive late, and be kept: the store tells.
      last = await replicaOf(store)
      await last.sees('c')
      return true
    }, WITHIN_SECONDS)
    expect((await store.cluster.renew('{}'))?.owners.size).toBe(1)
    expect(contents((await replicaOf(store)).ledger)).toEqual(contents(last!.ledger))
  })

  test('and is stopped by SIGSTOP, and continued', async () => {
    const store = await joined(await newDatabase(), 'one')
    process.kill(server().pid(), 'SIGSTOP')
    try {
      // Existing backends still answer: no new ones are made.
      const second = openPostgresStore({ url: server().url, lease: 60, deadline: 0.5 })
      await expect(second).rejects.toMatchObject(unavailable(/nothing was heard/))
    } finally {
      process.kill(server().pid(), 'SIGCONT')
    }
    expect((await store.cluster.renew('{}'))?.members).toHaveLength(1)
  })

  test('and is halted: a connection is closed without its answer, however long its statements may take', async () => {
    const connection = await connect(await newDatabase(), { deadline: 600 })
    server().halt()
    try {
      await connection.close()
    } finally {
      server().resume()
    }
    expect(connection.isDropped()).toBe(true)
  })

  test('and is started again, or killed: what was committed is there, and the daemon continues', async () => {
    const { store, ledger, next, sees } = await owner(await newDatabase())
    await sees('b')
    await server().kill()
    await expect(store.commit('a', next('c'))).rejects.toMatchObject(unavailable(/cannot be reached/))
    await expect(store.cluster.renew('{}')).rejects.toMatchObject(unavailable(/cannot be reached/))
    await server().restart()
    await sees('c')
    expect((await store.cluster.renew('{}'))?.owners.size).toBe(1)
    expect(contents((await replicaOf(store)).ledger)).toEqual(contents(ledger))
  })

  test('and holds a row for long: the statement is canceled there, and the connection stays', async () => {
    const url = await newDatabase()
    const { sees } = await owner(url, 'one', { deadline: 3 })
    const connection = await connect(url)
    await connection.run('BEGIN')
    await connection.run('SELECT FROM callwatch.targets FOR UPDATE')
    await expect(sees('b')).rejects.toMatchObject(unavailable(/reached the timeout of a statement/))
    await connection.close()
    await sees('b')
  })

  test('and is slow to show a large target, but shows it: the target is opened', async () => {
    const url = await newDatabase()
    const { store, see } = await owner(url)
    for (const poll of [1, 2, 3, 4]) {
      const calls = Array.from({ length: 30_000 }, (_, i) => seen(`call ${poll}-${i}`, 'ongoing'))
      await see(completePoll(poll, ...calls))
    }
    const secondsToOpen = async (by: typeof store) => {
      const begun = performance.now()
      expect((await replicaOf(by)).ledger.calls.size).toBe(120_000)
      return (performance.now() - begun) / 1000
    }
    const deadline = (await secondsToOpen(store)) / 3
    // On a busy machine the database may be silent for so long, or answer sooner than before.
    await eventually(async () => {
      expect(await secondsToOpen(await openShared(url, { deadline }))).toBeGreaterThan(deadline)
      return true
    }, WITHIN_SECONDS)
  })

  test('and has a silent host before it in its address: the one that answers is found', async () => {
    const url = await newDatabase()
    await joined(url, 'one')
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = silent.address() as AddressInfo
    const sql = await openPostgresBeside(url.replace('@', `@127.0.0.1:${port},`), { readOnly: false, deadline: 3 })
    expect(sql.place).toMatch(/ at 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+$/)
    expect(await sql.all('SELECT FROM callwatch.members')).toHaveLength(1)
    await sql.close()
  })

  test('and only reads: no commit is kept, and the sentence says why', async () => {
    const url = await newDatabase()
    const { sees } = await owner(url)
    const connection = await connect(url)
    const name = new URL(url).pathname.slice(1)
    await connection.run(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`)
    await connection.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()', [name]) // oxfmt-ignore
    await eventually(async () => {
      await expect(sees('b')).rejects.toMatchObject(unavailable(/is read-only/))
      return true
    }, WITHIN_SECONDS)
    await expect(openShared(url)).rejects.toMatchObject(unavailable(/is read-only/))
    await connection.run('SET default_transaction_read_only = off')
    await connection.run(`ALTER DATABASE "${name}" RESET default_transaction_read_only`)
    await connection.close()
    await sees('b')
  })
})

inOwnPostgres('a database that cannot be used is refused in a sentence', ({ newDatabase, server }) => {
  const secret = 'hunter2'
  const open = (url: string) => openPostgresStore({ url, lease: 60, deadline: 20 })
  const sentence = async (url: string) => {
    const error: unknown = await open(url).then(
      () => undefined,
      (problem: unknown) => problem,
    )
    expect(JSON.stringify([String(error), error])).not.toContain(secret)
    return error
  }
  const as = (url: string, user: string) => url.replace('postgres@', `${user}:${secret}@`)

  test('where nothing is listening', async () => {
    const url = `postgres://me:${secret}@127.0.0.1:1/callwatch`
    expect(await sentence(url)).toMatchObject(
      unavailable(
        /^the database callwatch at 127\.0\.0\.1:1 cannot be reached \(connect ECONNREFUSED .*check store\.url$/,
      ),
    )
  })

  test('where there is no such host', async () => {
    expect(await sentence(`postgres://me:${secret}@nowhere.invalid/callwatch`)).toMatchObject(unavailable(/ENOTFOUND/))
  })

  test('where it does not exist', async () => {
    expect(await sentence(server().url.replace('/callwatch', '/missing'))).toMatchObject(
      refused(/^the database missing at .* does not exist; create it, or name another one in store\.url$/),
    )
  })

  test('where the password is wrong, or the user is not known', async () => {
    const admin = await server().connect()
    await admin.run("CREATE ROLE guarded LOGIN PASSWORD 'another'")
    await admin.close()
    server().demandPasswords('guarded')
    expect(await sentence(as(server().url, 'guarded'))).toMatchObject(refused(/does not let this user in .*password authentication failed/)) // oxfmt-ignore
    expect(await sentence(as(server().url, 'stranger'))).toMatchObject(refused(/does not let this user in .*stranger/))
  })

  test('where the user may not make what is needed', async () => {
    const url = await newDatabase()
    const admin = await server().connect()
    await admin.run('CREATE ROLE guest LOGIN')
    await admin.close()
    expect(await sentence(as(url, 'guest'))).toMatchObject(
      refused(/a privilege is missing in .*permission denied for database .*CREATE SCHEMA callwatch AUTHORIZATION/),
    )
    const owner = await connect(url)
    await owner.run('CREATE SCHEMA callwatch AUTHORIZATION guest')
    expect(await sentence(as(url, 'guest'))).toBeUndefined()
    await owner.run('ALTER TABLE callwatch.schema_version OWNER TO postgres')
    await owner.close()
    expect(await sentence(as(url, 'guest'))).toMatchObject(
      refused(
        /a privilege is missing in .*permission denied for table schema_version\); a daemon has to own the schema/,
      ),
    )
  })

  test('where a newer callwatch has been', async () => {
    const url = await newDatabase()
    await openShared(url)
    const connection = await connect(url)
    await connection.run('UPDATE callwatch.schema_version SET version = 99')
    await connection.close()
    expect(await sentence(url)).toMatchObject(refused(/was written by a newer callwatch \(schema 99, this one knows \d+\); upgrade this one$/)) // oxfmt-ignore
  })

  test.each([
    [`postgres://me:${secret}@host:99999/x`, /has an invalid host/],
    [`postgres://me:${secret}@host/x?foo=1`, /has a parameter foo/],
    [`postgres://me:${secret}@host/x?sslmode=maybe`, /has sslmode=maybe; it must be prefer or disable/],
    [`postgres://me:${secret}@host/x?sslrootcert=/nowhere`, /names a sslrootcert that cannot be read/],
    [`postgres://me:${secret}@host/x?target_session_attrs=standby`, /must be any or read-write/],
  ])('where its address is wrong: %s', async (url, message) => {
    expect(await sentence(url)).toMatchObject(refused(message))
  })
})
