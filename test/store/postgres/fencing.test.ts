import { expect, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { SharedStore } from '../../../src/store/sharing.ts'
import { StoreError } from '../../../src/store/store.ts'
import { contents, CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { A, DAY, instance, NO_ALERTS, notification } from '../contract/place.ts'
import { commitOf, commitTo, joined } from './daemon.ts'

const take = async (store: SharedStore) => {
  const { ledger } = await store.openTarget(A, CREATED, DAY)
  expect(await store.sharing.claim(['a'], 1)).toEqual(['a'])
  return ledger
}
const kindOf = (error: unknown) => (error instanceof StoreError ? error.kind : error)

inPostgres('a commit to a target', ({ newDatabase }) => {
  test('that this daemon does not own is refused, however well it would follow', async () => {
    const url = await newDatabase()
    const store = await joined(url, 'one')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await expect(store.commit('a', commitOf(ledger, 'b'))).rejects.toMatchObject({ kind: 'stale' })
    await store.sharing.claim(['a'], 1)
    await commitTo(store, 'a', ledger, commitOf(ledger, 'b'))
    await store.sharing.release(['a'])
    await expect(store.commit('a', commitOf(ledger, 'c'))).rejects.toMatchObject({ kind: 'stale' })
  })

  test('of an owner that was buried while it slept writes nothing and puts nothing out', async () => {
    const url = await newDatabase()
    const stalled = await joined(url, 'stalled', { lease: 60 })
    const ledger = await take(stalled)
    await commitTo(stalled, 'a', ledger, commitOf(ledger, 'first'))
    const connection = await connect(url)
    await connection.run('UPDATE callwatch.members SET ends = statement_timestamp()')
    const heir = await joined(url, 'heir')
    const inherited = await take(heir)

    // The heir has committed nothing yet: it is the epoch alone that refuses.
    const outgoing = [{ change: notification, to: ['slack'] }]
    const late = { ...commitOf(ledger, 'late'), alerts: { ...NO_ALERTS, changed: [instance] } }
    await expect(stalled.commit('a', late)).rejects.toMatchObject({ kind: 'stale' })
    await expect(stalled.commit('a', { ...late, outgoing })).rejects.toMatchObject({ kind: 'stale' })

    const { ledger: stored, alerts } = await heir.openTarget(A, CREATED, DAY)
    expect(contents(stored)).toEqual(contents(inherited))
    expect([...stored.calls.values()].map(({ id }) => id)).toEqual(['first'])
    expect([alerts.size, await heir.outbox('slack')]).toEqual([0, []])
    const log = await connection.run('SELECT seq FROM callwatch.commits')
    expect(log.map(({ seq }) => Number(seq))).toEqual([1])
    await connection.close()
    await commitTo(heir, 'a', inherited, commitOf(inherited, 'second'))
  })

  test('of two owners that race, epoch after epoch, is kept of one of them only', { timeout: 60_000 }, async () => {
    const url = await newDatabase()
    const connection = await connect(url)
    const daemons = [await joined(url, 'one'), await joined(url, 'two')]
    const seen: number[] = []
    let kept = 0
    for (let round = 0; round < 60; round++) {
      const [owner, next] = round % 2 === 0 ? [daemons[0]!, daemons[1]!] : [daemons[1]!, daemons[0]!]
      const ledger = await take(owner)
      const first = owner.commit('a', commitOf(ledger, `owner's ${round}`)).then(
        () => 'kept',
        (error: unknown) => kindOf(error),
      )
      await connection.run("UPDATE callwatch.members SET ends = '-infinity' WHERE name = $1", [
        owner === daemons[0] ? 'one' : 'two',
      ])
      await next.sharing.beat('{}')
      const inherited = await take(next)
      const commit = commitOf(inherited, `heir's ${round}`)
      const [verdict, second] = await Promise.all([
        first,
        next.commit('a', commit).then(
          () => 'kept',
          (error: unknown) => kindOf(error),
        ),
      ])
      kept += [verdict, second].filter((answer) => answer === 'kept').length
      expect([verdict, second].filter((answer) => answer !== 'kept' && answer !== 'stale')).toEqual([])
      seen.push((await next.openTarget(A, CREATED, DAY)).ledger.facts.seq)
      await next.sharing.release(['a'])
      await owner.sharing.beat('{}')
      await owner.sharing.join(owner === daemons[0] ? 'one' : 'two', {}, '{}')
    }
    expect(seen.at(-1)).toBe(kept)
    const log = await connection.run('SELECT seq, epoch FROM callwatch.commits ORDER BY seq')
    expect(log.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: kept }, (_, i) => i + 1))
    const epochs = log.map(({ epoch }) => Number(epoch))
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
    const ids = await connection.run('SELECT id FROM callwatch.calls')
    expect(ids).toHaveLength(kept)
    await connection.close()
  })

  test('of an earlier time of owning it is refused, though nothing was committed in between', async () => {
    const url = await newDatabase()
    const store = await joined(url, 'one')
    const ledger = await take(store)
    const connection = await connect(url)
    // It was given to another one and came back, while this commit was on its way.
    await connection.run('BEGIN')
    await connection.run('UPDATE callwatch.targets SET epoch = epoch + 2')
    // Caught at once: it may be refused before anybody waits for it.
    const late = expect(store.commit('a', commitOf(ledger, 'late'))).rejects.toMatchObject({ kind: 'stale' })
    await connection.run('SELECT pg_sleep(0.2)')
    await connection.run('COMMIT')
    await late
    await connection.close()
    await store.sharing.beat('{}')
    await commitTo(store, 'a', ledger, commitOf(ledger, 'now'))
  })

  test('that comes twice at the same time is kept once', async () => {
    const url = await newDatabase()
    const store = await joined(url, 'one')
    const ledger = await take(store)
    for (let round = 0; round < 20; round++) {
      const commit = commitOf(ledger, `call ${round}`)
      const results = await Promise.allSettled([
        store.commit('a', commit),
        store.commit('a', commit),
        store.commit('a', { ...commit, outgoing: [{ change: notification, to: ['slack'] }] }),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      apply(ledger, commit.ledger, DAY)
      const stored = await store.openTarget(A, CREATED, DAY)
      expect(contents(stored.ledger)).toEqual(contents(ledger))
    }
  })
})
