import { describe, expect, onTestFinished, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { contents } from '../../kit/ledger/seen.ts'
import { inOwnPostgres, type WithServer } from '../../kit/postgres/in-postgres.ts'
import { startStandby } from '../../kit/postgres/start-postgres.ts'
import { eventually } from '../../kit/eventually.ts'
import { DAY, openIn } from '../../kit/store/place.ts'
import { openShared, owner, replicaOf } from '../../kit/store/postgres/daemon.ts'

/** A daemon that owns a target in a primary with a synchronous standby, and finds both. */
async function withStandby({ server }: WithServer) {
  const standby = await startStandby(server())
  onTestFinished(() => standby.stop())
  const hosts = [server(), standby].map(({ port }) => `127.0.0.1:${port}`)
  const url = `postgres://postgres@${hosts.join(',')}/callwatch?target_session_attrs=read-write`
  const daemon = await owner(url, 'one', { deadline: 5 })
  /** Waits until it finds the standby. */
  const ownsAgain = async () => {
    const beat = await eventually(() => daemon.store.cluster.renew('{}'), 60)
    expect(beat.owners.get('a')).toBe(beat.self)
  }
  return { ...daemon, standby, ownsAgain }
}

describe('a synchronous standby', () => {
  inOwnPostgres('of a primary that dies in the middle of commits', (postgres) => {
    test('has every commit that was answered, and the next ones once it was promoted', async () => {
      const { store, ledger, standby, next, sees, ownsAgain } = await withStandby(postgres)
      for (let i = 0; i < 50; i++) await sees(`before ${i}`)
      const meanwhile = next('meanwhile')
      const dying = store.commit('a', meanwhile)
      dying.catch(() => undefined)
      await postgres.server().kill()
      await expect(store.cluster.renew('{}')).rejects.toMatchObject({ kind: 'unavailable' })
      await standby.promote()
      await ownsAgain()
      const again = await replicaOf(store)
      // The commit without an answer may have been made.
      if (again.ledger.sync.seq > ledger.sync.seq) applyDelta(ledger, meanwhile.ledger, DAY)
      expect(contents(again.ledger)).toEqual(contents(ledger))
      await again.sees('after')
      expect(contents((await openIn(store)).ledger)).toEqual(contents(again.ledger))
    })
  })

  inOwnPostgres('that is promoted after the primary has become read-only', (postgres) => {
    test('is used by the next statement: the connections to the old one are dropped', async () => {
      const { store, standby, sees } = await withStandby(postgres)
      await sees('before')
      const primary = await postgres.server().connect()
      onTestFinished(() => primary.close())
      await primary.run('ALTER SYSTEM SET default_transaction_read_only = on')
      await primary.run('SELECT pg_reload_conf()')
      const readOnly = { kind: 'unavailable', message: expect.stringMatching(/is read-only/) }
      await eventually(async () => {
        await expect(store.cluster.renew('{}')).rejects.toMatchObject(readOnly)
        await expect(sees('refused')).rejects.toMatchObject(readOnly)
        return true
      }, 60)
      await standby.promote()
      expect(await store.cluster.renew('{}')).toMatchObject({ members: [expect.anything()] })
      await sees('after')
      const there = await openIn(await openShared(standby.url))
      expect(Array.from(there.ledger.calls.values(), ({ id }) => id)).toEqual(['before', 'after'])
    })
  })

  inOwnPostgres('that is promoted while the old primary still runs', (postgres) => {
    test('is used next, though the old one answers all but commits', async () => {
      const { store, standby, next, sees, ownsAgain } = await withStandby(postgres)
      await sees('before')
      await standby.promote()
      await expect(store.commit('a', next('hung'))).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/nothing was heard/),
      })
      await ownsAgain()
      await sees('after')
      const there = await openIn(await openShared(standby.url))
      expect(Array.from(there.ledger.calls.values(), ({ id }) => id)).toEqual(['before', 'after'])
    })
  })
})
