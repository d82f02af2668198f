import { expect, test } from 'vitest'
import { connect } from '../../../../src/store/postgres/connection.ts'
import { LAST } from '../../../../src/store/events.ts'
import { CREATED } from '../../../kit/ledger/seen.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { emptied, joined, owner, replicaOf } from '../../../kit/store/postgres/daemon.ts'

const eventsOf = (id: string) => ({ events: { id, at: CREATED, texts: ['{}'] } })

inPostgres('the log of events in PostgreSQL', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  test('shows no commit before it has a position; one that was begun earlier and ends later comes later', async () => {
    const url = await newDatabase()
    const { store, next, commit } = await owner(url)
    const slow = await connect(url)
    await slow.run('BEGIN')
    await slow.run(
      "INSERT INTO callwatch.events (id, target, at, n, data, participants) VALUES ('slow', 'b', 0, 1, '{}', '')",
    )
    await commit({ ...next('c'), ...eventsOf('fast') })
    const ids = async () => (await store.events(1, 100)).map(({ id }) => id)
    expect([await ids(), await store.latestEvents(9)]).toEqual([[], []])
    await store.cluster.numberEvents()
    expect(await ids()).toEqual(['fast'])
    await slow.run('COMMIT')
    await store.cluster.numberEvents()
    expect(await ids()).toEqual(['fast', 'slow'])
    await slow.close()
  })

  test('is numbered without a look at all of it', async () => {
    const url = await newDatabase()
    await owner(url)
    const { run, close } = await connect(url)
    await run(`INSERT INTO callwatch.events (position, total, id, target, at, n, data, participants)
      SELECT i, i, i, 'a', 0, 1, repeat('x', 600), '' FROM generate_series(1, 5000) AS i`)
    await run('ANALYZE callwatch.events')
    const plan = (await run(`EXPLAIN ${LAST}`)).map((row) => Object.values(row).join(' ')).join('\n')
    expect(plan).toContain('Index Scan Backward')
    expect(plan).not.toContain('Seq Scan')
    expect(await run(LAST)).toEqual([{ last: expect.anything(), before: expect.anything() }])
    await close()
  })

  test('has no participants left once they are erased, also of commits without a position, and while those get one', async () => {
    const url = await newDatabase()
    const { store, next, commit } = await owner(url)
    const named = (id: string) => ({ events: { ...eventsOf(id).events, participants: ['[{"uid":"alice"}]'] } })
    await commit({ ...next('c'), ...named('first') })
    await store.eraseParticipants()
    for (let i = 0; i < 250; i++) await commit({ ...next(`c${i}`), ...named(`${i}`) })
    await Promise.all([store.eraseParticipants(), store.cluster.numberEvents(), store.eraseParticipants()])
    const rows = await store.events(1, 1000)
    expect(rows).toHaveLength(251)
    expect(rows.filter(({ participants }) => participants !== undefined)).toEqual([])
  })

  test('is numbered by one daemon at a time: no reader sees a position before a lower one', async () => {
    const url = await newDatabase()
    const { store, next, commit } = await owner(url)
    const rival = await joined(url, 'two')
    const paused = await connect(url)
    await paused.run('BEGIN')
    await paused.run('SELECT pg_advisory_xact_lock(1702257006)')
    await commit({ ...next('c'), ...eventsOf('first') })
    const numbering = Promise.all([store, rival].map(({ cluster }) => cluster.numberEvents()))
    await paused.run("UPDATE callwatch.events SET position = 1 WHERE id = 'first'")
    await commit({ ...next('d'), ...eventsOf('second') })
    expect(await store.events(1, 100)).toEqual([])
    await paused.run('COMMIT')
    await numbering
    const rows = await store.events(1, 100)
    expect(rows.map(({ id, position }) => [id, position])).toEqual([
      ['first', 1],
      ['second', 2],
    ])
    await paused.close()
  })

  test('has the events of commits that share a statement, each with its target', async () => {
    const url = await newDatabase()
    const store = await joined(url, 'one')
    const names = ['a', 'b', 'c']
    await store.cluster.addTargets(
      names.map((name) => ({ name, fingerprint: name })),
      CREATED,
    )
    await store.cluster.acquire(names, 3)
    const replicas = await Promise.all(names.map((name) => replicaOf(store, { name, fingerprint: name })))
    await Promise.all(
      replicas.map(({ commit, next }, i) =>
        commit({ ...next('x'), ...(i === 1 ? {} : eventsOf(`event of ${names[i]}`)) }),
      ),
    )
    await store.cluster.numberEvents()
    const rows = await store.events(1, 100)
    expect(rows.map(({ id, target }) => `${id} ${target}`).toSorted()).toEqual(['event of a a', 'event of c c'])
  })
})
