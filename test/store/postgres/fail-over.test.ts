import { expect, onTestFinished, test } from 'vitest'
import { CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { startStandby } from '../../postgres/start-postgres.ts'
import { eventually } from '../../system/eventually.ts'
import { A, DAY } from '../contract/place.ts'
import { commitOf, commitTo, joined, openShared } from './daemon.ts'

inPostgres('a standby that is promoted while the old primary still runs', ({ server }) => {
  test('is gone over to, though the old one answers all but commits', { timeout: 60_000 }, async () => {
    const standby = await startStandby(server())
    onTestFinished(() => standby.stop())
    const hosts = [server(), standby].map(({ port }) => `127.0.0.1:${port}`)
    const url = `postgres://postgres@${hosts.join(',')}/callwatch?target_session_attrs=read-write`
    const store = await joined(url, 'one', { deadline: 2 })
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await store.sharing.claim(['a'], 1)
    await commitTo(store, 'a', ledger, commitOf(ledger, 'before'))
    await standby.promote()
    await expect(store.commit('a', commitOf(ledger, 'hung'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/nothing was heard/),
    })
    const beat = await eventually(() => store.sharing.beat('{}'), 20)
    expect(beat.owners.get('a')).toBe(beat.self)
    await commitTo(store, 'a', ledger, commitOf(ledger, 'after'))
    const there = await (await openShared(standby.url)).openTarget(A, CREATED, DAY)
    expect(Array.from(there.ledger.calls.values(), ({ id }) => id)).toEqual(['before', 'after'])
  })
})
