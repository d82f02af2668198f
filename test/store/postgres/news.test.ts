import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { Commit } from '../../../src/store/store.ts'
import { CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { A, B, DAY, instance, NO_ALERTS } from '../contract/place.ts'
import { emptied, joined, openShared, replicaOf } from './daemon.ts'

const NOTHING = { overviews: new Map(), commits: [] }
const logged = (target: string, { ledger, alerts }: Commit) => ({ target, commit: { ledger, alerts } })

inPostgres('the news of targets', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  /** Two daemons, of which the first owns the targets a and b. */
  async function pair() {
    const url = await newDatabase()
    const [owner, other] = [await joined(url, 'owner'), await joined(url, 'other')]
    const [a, b] = [await replicaOf(owner, A), await replicaOf(owner, B)]
    await owner.sharing.acquire(['a', 'b'], 2)
    const connected = async () => {
      const connection = await connect(url)
      onTestFinished(() => connection.close())
      return connection
    }
    return { url, owner: owner.sharing, store: owner, other: other.sharing, a, b, connected }
  }

  test('begin with the overviews that the owners published last, and no commit', async () => {
    const { owner, other, a } = await pair()
    await a.sees('c')
    await owner.publish(new Map([['a', 'first'], ['b', '"ü\\ {}']])) // oxfmt-ignore
    await owner.publish(new Map([['a', 'second']]))
    const { cursor, ...news } = await other.news()
    expect(news).toEqual({ overviews: new Map([['a', 'second'], ['b', '"ü\\ {}']]), commits: [] }) // oxfmt-ignore
    expect(await other.news(cursor)).toMatchObject(NOTHING)
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
    const { overviews } = await other.news()
    expect(overviews).toEqual(new Map(names.map((name) => [name, `of ${name}`])))
  })

  test('are the overviews and commits since, of each target in order, with all that was committed', async () => {
    const { owner, other, a, b } = await pair()
    await owner.publish(new Map([['a', 'old'], ['b', 'old']])) // oxfmt-ignore
    await a.sees('old')
    const { cursor } = await other.news()
    const first = { ...a.next('b'), alerts: { ...NO_ALERTS, changed: [instance] } }
    await a.commit(first)
    const ofB = b.next('d')
    await b.commit(ofB)
    const second = a.next('b', 'ended')
    await a.commit(second)
    await owner.publish(new Map([['b', 'new']]))
    const news = await other.news(cursor)
    expect(news.overviews).toEqual(new Map([['b', 'new']]))
    expect(news.commits).toStrictEqual([logged('a', first), logged('a', second), logged('b', ofB)])
    expect(await other.news(news.cursor)).toMatchObject(NOTHING)
  })

  test('miss nothing of a transaction that began earlier than others and commits later', async () => {
    const { owner, other, a, b, connected } = await pair()
    await owner.publish(new Map([['a', 'old'], ['b', 'old']])) // oxfmt-ignore
    const connection = await connected()
    await connection.run('BEGIN')
    await connection.run("UPDATE callwatch.overviews SET data = 'late', changed = pg_current_xact_id() FROM callwatch.targets WHERE target = number AND name = 'a'") // oxfmt-ignore
    await connection.run("INSERT INTO callwatch.commits (target, seq, epoch, data) SELECT number, 9, 1, '' FROM callwatch.targets WHERE name = 'a'") // oxfmt-ignore
    const late = a.next('late')
    const { cursor } = await other.news()
    await b.sees('c')
    await owner.publish(new Map([['b', 'new']]))
    const before = await other.news(cursor)
    expect(before).toMatchObject({ overviews: new Map([['b', 'new']]), commits: [{ target: 'b' }] })
    await connection.run('DELETE FROM callwatch.commits WHERE seq = 9')
    await connection.run('COMMIT')
    await a.commit(late)
    const after = await other.news(before.cursor)
    expect(after.overviews.get('a')).toBe('late')
    expect(after.commits).toContainEqual(logged('a', late))
  })

  test('leave out commits of another version', async () => {
    const { other, a, connected } = await pair()
    const { cursor } = await other.news()
    for (const call of ['b', 'c', 'd']) await a.sees(call)
    await (await connected()).run("UPDATE callwatch.commits SET data = '\\x00' WHERE seq = 2")
    const { commits } = await other.news(cursor)
    expect(commits.map(({ commit }) => commit.ledger.sync.seq)).toEqual([1, 3])
  })

  test('begin again where the database is behind what was seen, as after a restore', async () => {
    const { owner, other, a } = await pair()
    await a.sees('b')
    await owner.publish(new Map([['a', 'restored']]))
    const [xmin, xmax] = (await other.news()).cursor.split(':').map(BigInt)
    for (const ahead of [`${xmin! + 900n}:${xmax! + 900n}:`, `${xmin}:${xmax! + 900n}:`]) {
      const { cursor, ...news } = await other.news(ahead)
      expect(news).toEqual({ overviews: new Map([['a', 'restored']]), commits: [] })
      await a.sees(`after ${ahead}`)
      expect((await other.news(cursor)).commits).toHaveLength(1)
    }
  })

  test('are not rows that a dump brought from a database that was ahead', async () => {
    const { owner, other, a, connected } = await pair()
    await a.sees('b')
    await owner.publish(new Map([['a', 'restored'], ['b', 'restored']])) // oxfmt-ignore
    const connection = await connected()
    for (const table of ['overviews', 'commits'])
      await connection.run(`UPDATE callwatch.${table} SET changed = '9000000000'`)
    const { cursor, overviews } = await other.news()
    expect(overviews.size).toBe(2)
    expect(await other.news(cursor)).toMatchObject(NOTHING)
    await owner.publish(new Map([['a', 'new']]))
    expect((await other.news(cursor)).overviews).toEqual(new Map([['a', 'new']]))
  })

  test('have no overview of a target that was removed from the configuration, if it is added again later', async () => {
    const { owner, other, store } = await pair()
    await owner.publish(new Map([['a', 'old'], ['b', 'kept']])) // oxfmt-ignore
    await store.closeAlerts('a', [])
    expect((await other.news()).overviews).toEqual(new Map([['b', 'kept']]))
  })

  test('have no overview by a daemon that does not own the target, nor of one that was reset', async () => {
    const { url, store, owner, other, connected } = await pair()
    await owner.publish(new Map([['a', 'mine'], ['b', 'mine']])) // oxfmt-ignore
    await owner.release(['b'])
    await other.acquire(['b'], 1)
    await other.publish(new Map([['a', 'theirs'], ['b', 'theirs']])) // oxfmt-ignore
    await owner.publish(new Map([['b', 'mine']]))
    await (await openShared(url)).sharing.publish(new Map([['a', 'of no member']]))
    expect((await owner.news()).overviews).toEqual(new Map([['a', 'mine'], ['b', 'theirs']])) // oxfmt-ignore
    await store.resetTarget('a', [])
    expect(await (await connected()).run('SELECT FROM callwatch.overviews')).toHaveLength(1)
    await store.openTarget(A, CREATED, DAY)
    expect((await owner.news()).overviews).toEqual(new Map([['b', 'theirs']]))
  })
})
