import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../src/store/postgres/connection.ts'
import { CREATED } from '../../../kit/ledger/seen.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { A, B, DAY } from '../../../kit/store/place.ts'
import { emptied, joined, openShared } from '../../../kit/store/postgres/daemon.ts'

const NOTHING = { overviews: new Map() }

inPostgres('the overviews of targets', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  /** Two daemons, of which the first owns the targets a and b. */
  async function pair() {
    const url = await newDatabase()
    const [owner, other] = [await joined(url, 'owner'), await joined(url, 'other')]
    for (const target of [A, B]) await owner.openTarget(target, CREATED, DAY)
    await owner.cluster.acquire(['a', 'b'], 2)
    const connected = async () => {
      const connection = await connect(url)
      onTestFinished(() => connection.close())
      return connection
    }
    return { url, owner: owner.cluster, store: owner, other: other.cluster, connected }
  }

  test('begin with the overviews that the owners published last', async () => {
    const { owner, other } = await pair()
    await owner.publish(new Map([['a', 'first'], ['b', '"ü\\ {}']])) // oxfmt-ignore
    await owner.publish(new Map([['a', 'second']]))
    const { cursor, ...recent } = await other.overviewsSince()
    expect(recent).toEqual({ overviews: new Map([['a', 'second'], ['b', '"ü\\ {}']]) }) // oxfmt-ignore
    expect(await other.overviewsSince(cursor)).toMatchObject(NOTHING)
  })

  test('begin with the overviews of all targets, however many', async () => {
    const { owner, other } = await pair()
    const names = Array.from({ length: 1203 }, (_, i) => `target ${i}`)
    await owner.addTargets(
      names.map((name) => ({ name, fingerprint: 'x' })),
      CREATED,
    )
    await owner.acquire(names, names.length)
    await owner.publish(new Map(names.map((name) => [name, `of ${name}`])))
    const { overviews } = await other.overviewsSince()
    expect(overviews).toEqual(new Map(names.map((name) => [name, `of ${name}`])))
  })

  test('miss nothing of a transaction that began earlier than others and commits later', async () => {
    const { owner, other, connected } = await pair()
    await owner.publish(new Map([['a', 'old'], ['b', 'old']])) // oxfmt-ignore
    const connection = await connected()
    await connection.run('BEGIN')
    await connection.run("UPDATE callwatch.overviews SET data = 'late', changed = pg_current_xact_id() FROM callwatch.targets WHERE target = number AND name = 'a'") // oxfmt-ignore
    const { cursor } = await other.overviewsSince()
    await owner.publish(new Map([['b', 'new']]))
    const before = await other.overviewsSince(cursor)
    expect(before).toMatchObject({ overviews: new Map([['b', 'new']]) })
    await connection.run('COMMIT')
    const after = await other.overviewsSince(before.cursor)
    expect(after.overviews.get('a')).toBe('late')
    expect(await other.overviewsSince(after.cursor)).toMatchObject(NOTHING)
  })

  test('begin again where the database is behind what was seen, as after a restore', async () => {
    const { owner, other } = await pair()
    await owner.publish(new Map([['a', 'restored']]))
    const [xmin, xmax] = (await other.overviewsSince()).cursor.split(':').map(BigInt)
    for (const ahead of [`${xmin! + 900n}:${xmax! + 900n}:`, `${xmin}:${xmax! + 900n}:`]) {
      const { cursor, ...recent } = await other.overviewsSince(ahead)
      expect(recent).toEqual({ overviews: new Map([['a', 'restored']]) })
      await owner.publish(new Map([['a', 'new']]))
      expect((await other.overviewsSince(cursor)).overviews).toEqual(new Map([['a', 'new']]))
      await owner.publish(new Map([['a', 'restored']]))
    }
  })

  test('are not rows that a dump brought from a database that was ahead', async () => {
    const { owner, other, connected } = await pair()
    await owner.publish(new Map([['a', 'restored'], ['b', 'restored']])) // oxfmt-ignore
    await (await connected()).run("UPDATE callwatch.overviews SET changed = '9000000000'")
    const { cursor, overviews } = await other.overviewsSince()
    expect(overviews.size).toBe(2)
    expect(await other.overviewsSince(cursor)).toMatchObject(NOTHING)
    await owner.publish(new Map([['a', 'new']]))
    expect((await other.overviewsSince(cursor)).overviews).toEqual(new Map([['a', 'new']]))
  })

  test('have no overview of a target that was removed from the configuration, if it is added again later', async () => {
    const { owner, other, store } = await pair()
    await owner.publish(new Map([['a', 'old'], ['b', 'kept']])) // oxfmt-ignore
    await store.expireAlerts('a', [])
    expect((await other.overviewsSince()).overviews).toEqual(new Map([['b', 'kept']]))
  })

  test('have no overview by a daemon that does not own the target, nor of one that was reset', async () => {
    const { url, store, owner, other, connected } = await pair()
    await owner.publish(new Map([['a', 'mine'], ['b', 'mine']])) // oxfmt-ignore
    await owner.release(['b'])
    await other.acquire(['b'], 1)
    await other.publish(new Map([['a', 'theirs'], ['b', 'theirs']])) // oxfmt-ignore
    await owner.publish(new Map([['b', 'mine']]))
    await (await openShared(url)).cluster.publish(new Map([['a', 'of no member']]))
    expect((await owner.overviewsSince()).overviews).toEqual(new Map([['a', 'mine'], ['b', 'theirs']])) // oxfmt-ignore
    await store.resetTarget('a', [])
    expect(await (await connected()).run('SELECT FROM callwatch.overviews')).toHaveLength(1)
    await store.openTarget(A, CREATED, DAY)
    expect((await owner.overviewsSince()).overviews).toEqual(new Map([['b', 'theirs']]))
  })
})
