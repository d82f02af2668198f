import { expect, onTestFinished, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { openReader } from '../../../src/store/open-store.ts'
import { openPostgresStore } from '../../../src/store/open-postgres.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { contents, CREATED } from '../../kit/ledger/seen.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { DAY } from '../../kit/store/place.ts'
import { joined, openShared, owner, replicaOf } from '../../kit/store/postgres/daemon.ts'

/** What a database can set for every session, each of which would break what callwatch reads or writes. */
const HOSTILE = {
  default_transaction_isolation: "'serializable'",
  search_path: 'hostile, pg_catalog',
  DateStyle: "'SQL, DMY'",
  TimeZone: "'Asia/Tokyo'",
  bytea_output: "'escape'",
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  synchronous_commit: 'off',
  lock_timeout: '1',
  statement_timeout: '1',
  idle_session_timeout: "'30s'",
}

inOwnPostgres('what a database sets for every session', ({ newDatabase, server }) => {
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  async function admin(url: string) {
    const connection = await connect(url)
    onTestFinished(() => connection.close())
    return connection
  }

  test('does not reach a connection of callwatch, and daemons on it count as elsewhere', async () => {
    const url = await newDatabase()
    const { run } = await admin(url)
    await run('CREATE SCHEMA hostile')
    await run(
      "CREATE FUNCTION hostile.to_timestamp(double precision) RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
    )
    for (const [name, value] of Object.entries(HOSTILE))
      await run(`ALTER DATABASE "${nameOf(url)}" SET ${name} = ${value}`)
    const session = await admin(url)
    const [shown] = await session.run(
      `SELECT ${Object.keys(HOSTILE)
        .map((name) => `current_setting('${name}') AS "${name}"`)
        .join(', ')}`,
    )
    expect(shown).toEqual({
      default_transaction_isolation: 'read committed',
      search_path: 'pg_catalog',
      DateStyle: 'ISO, MDY',
      TimeZone: 'UTC',
      bytea_output: 'hex',
      extra_float_digits: '1',
      standard_conforming_strings: 'on',
      synchronous_commit: 'on',
      lock_timeout: '0',
      statement_timeout: '4s',
      idle_session_timeout: '0',
    })
    const [one, two] = [await owner(url, 'one'), await owner(url, 'two', {}, { name: 'b', fingerprint: 'x' })]
    for (let i = 0; i < 10; i++) await Promise.all([one.sees(`call ${i}`), two.sees(`call ${i}`)])
    expect(contents((await replicaOf(one.store)).ledger)).toEqual(contents(one.ledger))
    const bytes = await session.run(String.raw`SELECT '\x00ff5c'::bytea AS bytes, 0.1::float8 + 0.2 AS sum`)
    expect(bytes).toMatchObject([{ bytes: Buffer.from([0, 255, 92]), sum: 0.1 + 0.2 }])
  })

  test.each(['LATIN1', 'SQL_ASCII'])(
    'an encoding without all characters, as %s, is refused at the start',
    async (encoding) => {
      const url = server().url.replace('/callwatch', `/in_${encoding.toLowerCase()}`)
      const { run } = await admin(server().url)
      await run(`CREATE DATABASE ${nameOf(url)} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
      await expect(openPostgresStore({ url, lease: 60 })).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(new RegExp(`has the encoding ${encoding}.*ENCODING 'UTF8' TEMPLATE template0`)),
      })
      // What it has can be read, to copy it elsewhere.
      const reading = await connect(url, { readOnly: true })
      await reading.close()
    },
  )

  test('a publication of all tables refuses neither the first start nor a later one', async () => {
    const url = await newDatabase()
    const { run } = await admin(url)
    await run('CREATE PUBLICATION everything FOR ALL TABLES')
    const { sees, store } = await owner(url)
    await sees('b')
    await store.close()
    expect((await replicaOf(await openShared(url))).ledger.calls.size).toBe(1)
  })

  test('sequences that are behind their tables, as after a logical copy, are moved at the start', async () => {
    const url = await newDatabase()
    const first = await owner(url)
    const events = (id: string) => ({ events: { id, at: CREATED, texts: ['{}'] } })
    const silence = { match: {}, since: CREATED, until: CREATED + 60, reason: '' }
    await first.commit({ ...first.next('b'), ...events('of b') })
    await first.store.addSilence(silence)
    await first.store.close()
    const { run } = await admin(url)
    const sequences = await run("SELECT sequencename FROM pg_sequences WHERE schemaname = 'callwatch'")
    expect(sequences.length).toBeGreaterThan(4)
    for (const { sequencename } of sequences) await run(`ALTER SEQUENCE callwatch.${String(sequencename)} RESTART`)
    const store = await joined(url, 'two', { receivers: ['slack'] })
    const { ledger, next } = await replicaOf(store, { name: 'new', fingerprint: 'x' })
    await store.cluster.acquire(['new'], 1)
    const commit = { ...next('c'), ...events('of c') }
    await store.commit('new', commit)
    applyDelta(ledger, commit.ledger, DAY)
    await store.addSilence(silence)
    for (const table of ['events', 'silences'])
      expect(await store.rows(`SELECT FROM callwatch.${table}`, [])).toHaveLength(2)
    const reader = await openReader({ url })
    onTestFinished(() => reader[Symbol.asyncDispose]())
    expect((await store.cluster.renew('{}'))?.members.map(({ name }) => name)).toEqual(['one', 'two'])
  })
})
