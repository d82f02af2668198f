import { expect, onTestFinished, test } from 'vitest'
import { apply } from '../../src/ledger/state.ts'
import { contents, CREATED } from '../ledger/seen.ts'
import { A, DAY } from '../store/contract/place.ts'
import { commitOf, commitTo, joined } from '../store/postgres/daemon.ts'
import { eventually } from '../system/eventually.ts'
import { inPostgres } from './in-postgres.ts'
import { startStandby } from './start-postgres.ts'

inPostgres('a primary with a synchronous standby', ({ server }) => {
  test(
    'may die in the middle of commits: once the standby is promoted, every commit that was answered is there, and work goes on',
    { timeout: 60_000 },
    async () => {
      const primary = server()
      const standby = await startStandby(primary)
      onTestFinished(() => standby.stop())
      const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/callwatch?target_session_attrs=read-write`
      const store = await joined(url, 'one', { deadline: 2 })
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await store.sharing.claim(['a'], 1)
      for (let i = 0; i < 50; i++) await commitTo(store, 'a', ledger, commitOf(ledger, `before ${i}`))

      const dying = store.commit('a', commitOf(ledger, 'meanwhile'))
      dying.catch(() => undefined)
      await primary.kill()
      await expect(store.sharing.beat('{}')).rejects.toMatchObject({ kind: 'unavailable' })
      await standby.promote()

      const beat = await eventually(() => store.sharing.beat('{}'), 20)
      expect(beat.owners.get('a')).toBe(beat.self)
      const missed = await store.sharing.missed(new Map([['a', ledger.facts.seq]]))
      for (const { commit } of missed) apply(ledger, commit!.ledger, DAY)
      await commitTo(store, 'a', ledger, commitOf(ledger, 'after'))
      expect(contents((await store.openTarget(A, CREATED, DAY)).ledger)).toEqual(contents(ledger))
    },
  )
})
