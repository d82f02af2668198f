import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { computeDelta } from '../../../src/ledger/compute-delta.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { MissedCommit, SharedStore } from '../../../src/store/sharing.ts'
import type { StoredTarget } from '../../../src/store/store.ts'
import { contents } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { anyObservations } from '../any-observations.ts'
import { A, commitOf, DAY, instance, NO_ALERTS, notification, OPTIONS } from '../contract/place.ts'
import { emptied, joined, replicaOf } from './daemon.ts'

/** Applies what was missed, as the daemon does. @returns how many commits there were */
function replicate({ ledger, alerts }: StoredTarget, missed: readonly MissedCommit[]): number {
  for (const { commit } of missed) {
    apply(ledger, commit!.ledger, DAY)
    for (const changed of commit!.alerts.changed) alerts.set(changed.key, changed)
    for (const { key } of commit!.alerts.ended) alerts.delete(key)
  }
  return missed.length
}

const since = (seq: number, name = 'a') => new Map([[name, seq]])
/** What a replica that has to open the target again is given. */
const REOPEN = [{ target: 'a', commit: undefined }]
/** Two calls that finished at the very same time come in the order in which they were read. */
const sorted = ({ ledger }: StoredTarget) => {
  const { finished, ...rest } = contents(ledger)
  return { ...rest, finished: finished.map((finish) => JSON.stringify(finish)).toSorted() }
}

inPostgres('a replica of a target that another daemon owns', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  /** Two daemons, and a function that opens a target in both; the first owns it. */
  async function pair() {
    const url = await newDatabase()
    const stores = [await joined(url, 'owner'), await joined(url, 'follower')] as const
    const open = async (identity = A) => {
      const [mine, replica] = [await replicaOf(stores[0], identity), await replicaOf(stores[1], identity)]
      await stores[0].sharing.acquire([identity.name], 1)
      const missed = () => stores[1].sharing.missed(since(replica.ledger.sync.seq, identity.name))
      return { mine, replica, missed }
    }
    const missedSince = (seq: number, store: SharedStore = stores[1]) => store.sharing.missed(since(seq))
    return { url, owner: stores[0], follower: stores[1], open, missedSince }
  }

  test('knows of every poll what the owner knows, and what a restart would', { timeout: 120_000 }, async () => {
    const { follower, open } = await pair()
    let targets = 0
    await fc.assert(
      fc.asyncProperty(anyObservations, fc.nat(4), async (observations, patience) => {
        const identity = { name: `target ${++targets}`, fingerprint: 'x' }
        const { mine, replica, missed } = await open(identity)
        let replicated = 0
        for (const [i, observation] of observations.entries()) {
          const delta = computeDelta(mine.ledger, observation, OPTIONS)
          if (delta === undefined) continue
          await mine.commit(commitOf(delta))
          if (i % (patience + 1) !== 0) continue
          replicated += replicate(replica, await missed())
          expect(sorted(replica)).toEqual(sorted(mine))
        }
        replicated += replicate(replica, await missed())
        expect(replicated).toBe(mine.ledger.sync.seq)
        expect(sorted(replica)).toEqual(sorted(mine))
        // A call that comes back after it was evicted takes the place of its own history: only memory still has both.
        const loaded = sorted(await replicaOf(follower, identity))
        expect({ ...loaded, finished: [] }).toEqual({ ...sorted(mine), finished: [] })
      }),
      { numRuns: 60 },
    )
  })

  test('gets the very deltas that were committed, with calls, transitions and alerts', async () => {
    const { open } = await pair()
    const { mine, replica, missed } = await open()
    const first = { ...mine.next('b'), alerts: { ...NO_ALERTS, changed: [instance] } }
    await mine.commit(first)
    const alerts = { changed: [], ended: [instance], notifications: [notification] }
    const second = { ...mine.next('b', 'ended'), alerts }
    await mine.commit({ ...second, routedChanges: [{ change: notification, receivers: ['slack'] }] })
    const commits = await missed()
    expect(commits).toStrictEqual(
      [first, second].map((commit) => ({ target: 'a', commit: { ledger: commit.ledger, alerts: commit.alerts } })),
    )
    // Labels are compared as objects wherever something is counted.
    const { finishes, transitions } = commits[1]!.commit!.ledger
    expect(finishes[0]!.labels).toBe(second.ledger.finishes[0]!.labels)
    expect(transitions[0]!.call.labels).toBe(second.ledger.transitions[0]!.call.labels)
    expect(replicate(replica, commits)).toBe(2)
    expect(replica.alerts).toEqual(mine.alerts)
    expect(await missed()).toEqual([])
  })

  test('gets the commits of many targets at once, of each in order, and none of those that did not change', async () => {
    const { follower, open } = await pair()
    const known = new Map<string, number>()
    for (let i = 0; i < 20; i++) {
      const { mine } = await open({ name: `target ${i}`, fingerprint: 'x' })
      for (let n = 0; n < i % 4; n++) await mine.sees(`call ${n}`)
      known.set(`target ${i}`, 0)
    }
    const byTarget = Map.groupBy(await follower.sharing.missed(known), ({ target }) => target)
    for (let i = 0; i < 20; i++) {
      const commits = byTarget.get(`target ${i}`) ?? []
      expect(commits.map(({ commit }) => commit?.ledger.sync.seq)).toEqual([1, 2, 3].slice(0, i % 4))
    }
  })

  test('must be opened again where the log does not reach back, or is of another version', async () => {
    const { url, owner, follower, open, missedSince } = await pair()
    const { mine, missed } = await open()
    for (const call of ['b', 'c', 'd']) await mine.sees(call)
    const connection = await connect(url)
    await connection.run("UPDATE callwatch.commits SET at = at - interval '11 minutes' WHERE seq = 1")
    await owner.deleteExpired(0)
    expect(await missed()).toEqual(REOPEN)
    expect(await missedSince(1)).toHaveLength(2)
    await connection.run("UPDATE callwatch.commits SET data = '\\x00' WHERE seq = 3")
    expect(await missedSince(1)).toEqual(REOPEN)
    await connection.run('DELETE FROM callwatch.commits')
    expect(await missedSince(2)).toEqual(REOPEN)
    expect(await missedSince(3)).toEqual([])
    const never = await follower.sharing.missed(since(3, 'never opened'))
    expect(never).toEqual([{ target: 'never opened', commit: undefined }])
    await connection.close()
  })

  test('must be opened again where a commit that it knows was lost, and others came in its place', async () => {
    const { url, owner, follower, open, missedSince } = await pair()
    const { mine, replica, missed } = await open()
    const connection = await connect(url)
    // As a failover does to a standby that had not received the last commit.
    const loseLast = async () => {
      await connection.run('DELETE FROM callwatch.commits WHERE seq = (SELECT seq FROM callwatch.targets)')
      await connection.run(
        "UPDATE callwatch.targets SET seq = seq - 1, sync = jsonb_set(sync::jsonb, '{seq}', to_jsonb(seq - 1))::text",
      )
    }
    for (const call of ['first', 'lost']) await mine.sees(call)
    replicate(replica, await missed())
    await loseLast()
    expect(await missed()).toEqual(REOPEN)
    const again = await replicaOf(owner)
    await again.sees('other')
    expect(again.ledger.sync.seq).toBe(replica.ledger.sync.seq)
    expect(await missed()).toEqual(REOPEN)
    await again.sees('next')
    expect(await missed()).toEqual(REOPEN)
    expect(await missedSince(again.ledger.sync.seq, owner)).toEqual([])

    // The same for a daemon that has opened it, and for the one that has committed it.
    const opened = await replicaOf(follower)
    const committed = await replicaOf(owner)
    await loseLast()
    const heir = await replicaOf(await joined(url, 'heir'))
    await connection.run('UPDATE callwatch.targets SET owner = NULL')
    await heir.store.sharing.acquire(['a'], 1)
    await heir.sees("heir's")
    for (const { store, ledger } of [opened, committed]) {
      expect(await missedSince(ledger.sync.seq, store)).toEqual(REOPEN)
    }
    await connection.run('DELETE FROM callwatch.commits')
    expect(await missedSince(opened.ledger.sync.seq)).toEqual([])
    await connection.close()
  })

  test('must be opened again where the target was reset, also when it has as many commits again', async () => {
    const { owner, follower, open, missedSince } = await pair()
    const { mine } = await open()
    await mine.sees('b')
    await owner.resetTarget('a', [])
    expect(await missedSince(1)).toEqual(REOPEN)
    const again = await replicaOf(owner)
    await owner.sharing.acquire(['a'], 1)
    for (const call of ['c', 'd']) await again.sees(call)
    expect(await missedSince(1)).toEqual(REOPEN)
    await replicaOf(follower)
    expect(await missedSince(1)).toMatchObject([{ commit: { ledger: { sync: { seq: 2 } } } }])
  })
})
