import { expect, onTestFinished, test, vi } from 'vitest'
import { imbalancesOf } from '../../../../src/ledger/balance.ts'
import { newLedger, type Delta } from '../../../../src/ledger/state.ts'
import { connect } from '../../../../src/store/postgres/connection.ts'
import type { StoredTarget } from '../../../../src/store/store.ts'
import { SOON } from '../../../kit/eventually.ts'
import { asked, completePoll, contents, CREATED, seen } from '../../../kit/ledger/seen.ts'
import { cuttingProxy } from '../../../kit/postgres/cutting-proxy.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { DAY, instance, NO_ALERTS, openIn } from '../../../kit/store/place.ts'
import { emptied, joined, owningStore, replicaOf } from '../../../kit/store/postgres/daemon.ts'
import { openReader } from '../../../../src/store/open-store.ts'

const named = (name: string) => ({ name, fingerprint: `of ${name}` })
const refused = { kind: 'refused', message: expect.stringContaining('--reset-target b') }

const deltaAfter = (delta: Delta, commits: number): Delta => ({
  ...delta,
  sync: { ...delta.sync, seq: delta.sync.seq + commits },
})
const withCounter = (delta: Delta, value: number): Delta => ({
  ...delta,
  counters: new Map([...delta.counters.keys()].map((series) => [series, value])),
})

inPostgres('many targets', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  async function counted() {
    const proxy = await cuttingProxy(await newDatabase())
    onTestFinished(() => proxy.close())
    const roundTrips = async (work: () => Promise<unknown>) => {
      const before = proxy.roundTrips()
      await work()
      return proxy.roundTrips() - before
    }
    return { url: proxy.url, roundTrips }
  }

  test('are set up in one transaction, those that are new, and are like those that were opened', async () => {
    const { url, roundTrips } = await counted()
    const store = await owningStore(url)
    const { cluster } = await joined(url, 'other')
    const { ledger, see } = await openIn(store, named('b'))
    await see(completePoll(1, seen('c', 'ongoing')))
    const names = ['b', ...Array.from({ length: 300 }, (_, i) => `target ${i}`)]
    // The first time, statements are prepared.
    await cluster.addTargets([named('b')], CREATED)
    expect(await roundTrips(() => cluster.addTargets(names.map(named), CREATED + 5))).toBeLessThanOrEqual(4)
    expect(contents((await openIn(store, named('b'))).ledger)).toEqual(contents(ledger))
    const added = await openIn(store, named('target 7'))
    expect(contents(added.ledger)).toEqual(contents(newLedger(CREATED + 5)))
    await added.see(completePoll(1, seen('lost', 'ongoing', { initiatedAt: CREATED })))
    for (const seconds of [2, 3]) await added.see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
    await added.see(completePoll(5000))
    await added.see(completePoll(5000))
    await store.deleteExpired(CREATED + 4)
    const reader = await openReader({ url })
    const balance = await reader.balance('target 7')
    expect([balance.deletedTotals[0], imbalancesOf(balance)]).toEqual([1, []])
    await reader.close()
  })

  test('that are committed at the same time share a few statements, each kept or refused by itself', async () => {
    const { url, roundTrips } = await counted()
    const store = await joined(url, 'one')
    const names = Array.from({ length: 60 }, (_, i) => `target ${i}`)
    await store.cluster.addTargets(names.map(named), CREATED)
    await store.cluster.acquire(names, 60)
    const replicas = await Promise.all(names.map((name) => replicaOf(store, named(name))))
    // Once for each connection, statements are prepared.
    for (const call of ['b', 'c']) await Promise.all(replicas.map((replica) => replica.sees(call)))
    expect(await roundTrips(() => Promise.all(replicas.map((replica) => replica.sees('d'))))).toBeLessThanOrEqual(3)

    const [late, wrong, ...others] = replicas
    const commits = [
      store.commit('target 0', { ...late!.next('e'), ledger: deltaAfter(late!.next('e').ledger, 5) }),
      store.commit('target 1', { ...wrong!.next('e'), ledger: withCounter(wrong!.next('e').ledger, Number.NaN) }),
      ...others.map((replica) => replica.sees('e')),
    ]
    const [first, second, ...rest] = await Promise.allSettled(commits)
    expect([first, second]).toMatchObject([{ reason: { kind: 'stale' } }, { reason: { message: /violates/ } }])
    expect(rest.filter(({ status }) => status === 'rejected')).toEqual([])
    for (const [i, replica] of replicas.entries()) {
      const stored = await replicaOf(store, named(names[i]!))
      expect(contents(stored.ledger)).toEqual(contents(replica.ledger))
      expect(stored.ledger.calls.size).toBe(i < 2 ? 3 : 4)
    }
  })

  test('that are committed together are locked in one order, as where expired calls are deleted', async () => {
    const url = await newDatabase()
    const store = await joined(url, 'one')
    const names = ['a', 'b']
    await store.cluster.addTargets(names.map(named), CREATED)
    await store.cluster.acquire(names, 2)
    const [a, b] = await Promise.all(names.map((name) => replicaOf(store, named(name))))
    const other = await connect(url)
    await other.run('BEGIN')
    const lock = (name: string) => other.run('SELECT FROM callwatch.targets WHERE name = $1 FOR UPDATE NOWAIT', [name])
    await lock('a')
    const commits = Promise.all([b!.sees('c'), a!.sees('c')])
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
    await vi.waitUntil(async () => (await other.run(waiting)).length > 0, SOON)
    await lock('b')
    await other.run('COMMIT')
    await commits
    await other.close()
  })

  test('are not set up where one is stored with another fingerprint', async () => {
    const { cluster, ...store } = await joined(await newDatabase(), 'one')
    await cluster.addTargets([named('b')], CREATED)
    const adding = cluster.addTargets([named('a'), { name: 'b', fingerprint: 'other' }, named('c')], CREATED)
    await expect(adding).rejects.toMatchObject(refused)
    expect((await store.openTarget(named('a'), CREATED + 9, DAY)).ledger.sync.created).toBe(CREATED + 9)
  })

  test('are set up once by daemons that do so at the same time, in whatever order', async () => {
    const url = await newDatabase()
    const daemons = await Promise.all(['one', 'two', 'three'].map((name) => joined(url, name)))
    const names = Array.from({ length: 500 }, (_, i) => `target ${i}`)
    const orders = [names, names.toReversed(), names.toSorted()]
    await Promise.all(orders.map((order, i) => daemons[i]!.cluster.addTargets(order.map(named), CREATED + i)))
    expect(await daemons[0]!.cluster.acquire(names, 1000)).toHaveLength(500)
  })

  test('that are opened together are loaded together, each as it is alone', async () => {
    const { url, roundTrips } = await counted()
    const store = await owningStore(url)
    const names = Array.from({ length: 50 }, (_, i) => `target ${i}`)
    await Promise.all(names.map((name) => store.openTarget(named(name), CREATED, DAY)))
    for (const [i, name] of names.slice(0, 5).entries()) {
      const { see } = await openIn(store, named(name))
      const over = (id: string, at: number) =>
        seen(id, 'ended', {
          initiatedAt: CREATED,
          endedAt: CREATED + at,
          participantMinutes: { audio: i, video: 1, total: undefined },
        })
      await see(completePoll(1, seen(`open ${i}`, 'ongoing'), over('same', 1 + i)), {
        alerts: { ...NO_ALERTS, changed: [{ ...instance, value: i }] },
      })
      await see(completePoll(1000 + 500 * i, over('late', 900)))
      await see(completePoll(4000))
      await see(completePoll(4000))
    }
    const longestWindow = (i: number) => [3600, 60, DAY][i % 3]!
    const alone: StoredTarget[] = []
    for (const [i, name] of names.entries()) alone.push(await store.openTarget(named(name), CREATED, longestWindow(i)))
    const { openTarget } = await joined(url, 'other')
    let together: readonly StoredTarget[] = []
    const openAll = async () => {
      together = await Promise.all(names.map((name, i) => openTarget(named(name), CREATED, longestWindow(i))))
    }
    await openAll()
    expect(await roundTrips(openAll)).toBeLessThanOrEqual(5)
    const comparable = (targets: readonly StoredTarget[]) =>
      targets.map(({ ledger, alerts }) => ({ ...contents(ledger), alerts }))
    expect(comparable(together)).toEqual(comparable(alone))
    expect(alone.slice(0, 3).map(({ ledger }) => contents(ledger).finished.length)).toEqual([1, 0, 2])
  })

  test('that are opened together are refused and set up one by one, and a second time are others', async () => {
    const store = await joined(await newDatabase(), 'one')
    await store.openTarget(named('b'), CREATED, DAY)
    const open = (name: string, fingerprint: string) => store.openTarget({ name, fingerprint }, CREATED + 5, DAY)
    const settled = await Promise.allSettled([open('a', 'x'), open('b', 'x'), open('b', 'of b'), open('a', 'x')])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: refused })
    const created = settled.map((one) => one.status === 'fulfilled' && one.value.ledger.sync.created - CREATED)
    expect(created).toEqual([5, false, 0, 5])
    expect(new Set(settled.map((one) => one.status === 'fulfilled' && one.value.ledger)).size).toBe(4)
  })

  test.each([
    ['sync', "UPDATE callwatch.targets SET sync = '{' WHERE name = 'b'"],
    ['alert', "UPDATE callwatch.alerts SET data = '{' WHERE target = (SELECT number FROM callwatch.targets WHERE name = 'b')"], // oxfmt-ignore
  ])('that are opened together are loaded but for one whose %s cannot be read', async (_row, damage) => {
    const url = await newDatabase()
    const store = await owningStore(url)
    const names = ['a', 'b', 'c']
    for (const name of names) {
      const { see } = await openIn(store, named(name))
      await see(completePoll(1, seen(`of ${name}`, 'ongoing')), { alerts: { ...NO_ALERTS, changed: [instance] } })
    }
    const connection = await connect(url)
    onTestFinished(() => connection.close())
    await connection.run(damage)
    const settled = await Promise.allSettled(names.map((name) => store.openTarget(named(name), CREATED, DAY)))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const loaded = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(loaded.map(({ ledger, alerts }) => [ledger.calls.size, alerts.size])).toEqual([[1, 1], [1, 1]]) // oxfmt-ignore
  })

  test('have the pauses of their keys read together', async () => {
    const { url, roundTrips } = await counted()
    const store = await joined(url, 'one')
    for (const n of [1, 2]) await store.pauseUntil(`key ${n}`, CREATED + n)
    const keys = ['key 2', 'key 1', 'key 3', 'key 2']
    const read = () => Promise.all(keys.map((key) => store.pausedUntil(key)))
    expect(await read()).toEqual([CREATED + 2, CREATED + 1, undefined, CREATED + 2])
    expect(await roundTrips(read)).toBeLessThanOrEqual(2)
  })
})
