import { expect, test } from 'vitest'
import { applyDelta } from '../../../../src/ledger/state.ts'
import { connect } from '../../../../src/store/postgres/connection.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { contents } from '../../../kit/ledger/seen.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { logCommits } from '../../../kit/postgres/log-commits.ts'
import { DAY, episodesIn, instance, NO_ALERTS, notification } from '../../../kit/store/place.ts'
import { emptied, endLease, joined, owner, replicaOf } from '../../../kit/store/postgres/daemon.ts'

const STALE = { kind: 'stale' }
const FIRING = { alerts: { ...NO_ALERTS, notifications: [notification] } }
const resultOf = (commit: Promise<void>) =>
  commit.then(
    () => 'kept',
    (error: unknown) => (error instanceof StoreError ? error.kind : error),
  )

inPostgres('a commit to a target', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  test('that this daemon does not own is refused, however well it would follow', async () => {
    const { store, next, sees } = await replicaOf(await joined(await newDatabase(), 'one'))
    await expect(store.commit('a', next('b'))).rejects.toMatchObject(STALE)
    await store.cluster.acquire(['a'], 1)
    await sees('b')
    await store.cluster.release(['a'])
    await expect(store.commit('a', next('c'))).rejects.toMatchObject(STALE)
  })

  test('of an owner that was dead for a while writes nothing and enqueues nothing', async () => {
    const url = await newDatabase()
    const connection = await connect(url)
    await logCommits(connection)
    const stalled = await owner(url, 'stalled')
    await stalled.sees('first')
    await endLease(url, 'stalled')
    const heir = await owner(url, 'heir')

    // The heir has committed nothing yet: it is the epoch alone that refuses.
    const late = { ...stalled.next('late'), alerts: { ...NO_ALERTS, changed: [instance] } }
    await expect(stalled.commit(late)).rejects.toMatchObject(STALE)
    await expect(stalled.commit({ ...late, ...FIRING })).rejects.toMatchObject(STALE)

    const stored = await replicaOf(heir.store)
    expect(contents(stored.ledger)).toEqual(contents(heir.ledger))
    expect([...stored.ledger.calls.values()].map(({ id }) => id)).toEqual(['first'])
    expect([stored.alerts.size, await episodesIn(heir.store)]).toEqual([0, []])
    const log = await connection.run('SELECT seq FROM public.commits')
    await connection.close()
    expect(log.map(({ seq }) => Number(seq))).toEqual([1])
    await heir.sees('second')
  })

  test('of two owners that race, epoch after epoch, is kept of one of them only', async () => {
    const url = await newDatabase()
    const connection = await connect(url)
    await logCommits(connection)
    const daemons = [await joined(url, 'one'), await joined(url, 'two')]
    let last = 0
    let kept = 0
    for (let round = 0; round < 20; round++) {
      const [name, ...order] = round % 2 === 0 ? (['one', 0, 1] as const) : (['two', 1, 0] as const)
      const [before, after] = order.map((i) => daemons[i]!.cluster)
      const owning = await replicaOf(daemons[order[0]]!)
      expect(await before!.acquire(['a'], 1)).toEqual(['a'])
      const first = resultOf(owning.store.commit('a', owning.next(`owner's ${round}`)))
      await connection.run("UPDATE callwatch.members SET ends = '-infinity' WHERE name = $1", [name])
      await after!.renew('{}')
      const inheriting = await replicaOf(daemons[order[1]]!)
      expect(await after!.acquire(['a'], 1)).toEqual(['a'])
      const second = resultOf(inheriting.store.commit('a', inheriting.next(`heir's ${round}`)))
      const verdicts = await Promise.all([first, second])
      kept += verdicts.filter((verdict) => verdict === 'kept').length
      expect(verdicts.filter((verdict) => verdict !== 'kept' && verdict !== 'stale')).toEqual([])
      last = (await replicaOf(inheriting.store)).ledger.sync.seq
      await after!.release(['a'])
      await before!.renew('{}')
      await before!.join(name, '{}', {})
    }
    expect(last).toBe(kept)
    const log = await connection.run('SELECT seq, epoch FROM public.commits ORDER BY seq')
    expect(log.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: kept }, (_, i) => i + 1))
    const epochs = log.map(({ epoch }) => Number(epoch))
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
    expect(await connection.run('SELECT id FROM callwatch.calls')).toHaveLength(kept)
    await connection.close()
  })

  test('of an earlier time of owning it is refused, though nothing was committed in between', async () => {
    const url = await newDatabase()
    const { store, next, sees } = await owner(url)
    const connection = await connect(url)
    // It was given to another one and came back while this commit was under way.
    await connection.run('BEGIN')
    await connection.run('UPDATE callwatch.targets SET epoch = epoch + 2')
    // Caught at once: it may be refused before anything waits for it.
    const late = expect(store.commit('a', next('late'))).rejects.toMatchObject(STALE)
    await connection.run('SELECT pg_sleep(0.2)')
    await connection.run('COMMIT')
    await late
    await connection.close()
    await store.cluster.renew('{}')
    await sees('now')
  })

  test('that comes twice at the same time is kept once', async () => {
    const { store, ledger, next } = await owner(await newDatabase())
    for (let round = 0; round < 20; round++) {
      const commit = next(`call ${round}`)
      const results = await Promise.allSettled(
        [commit, commit, { ...commit, ...FIRING }].map((same) => store.commit('a', same)),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      applyDelta(ledger, commit.ledger, DAY)
      expect(contents((await replicaOf(store)).ledger)).toEqual(contents(ledger))
    }
  })
})
