import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { MissedCommit, SharedStore } from '../../../src/store/sharing.ts'
import type { StoredTarget } from '../../../src/store/store.ts'
import { contents, CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { anyLooks } from '../any-look.ts'
import { A, DAY, instance, NO_ALERTS, notification, OPTIONS } from '../contract/place.ts'
import { commitOf, commitTo, joined } from './daemon.ts'

/** Applies what was missed, as the daemon does. @returns how many commits there were */
function follow({ ledger, alerts }: StoredTarget, missed: readonly MissedCommit[]): number {
  for (const { commit } of missed) {
    apply(ledger, commit!.ledger, DAY)
    for (const changed of commit!.alerts.changed) alerts.set(changed.key, changed)
    for (const { key } of commit!.alerts.ended) alerts.delete(key)
  }
  return missed.length
}

const since = (name: string, { ledger }: StoredTarget) => new Map([[name, ledger.facts.seq]])
/** Two calls that finished at the very same time come in the order in which they were read. */
const sorted = ({ ledger }: StoredTarget) => {
  const { finished, ...rest } = contents(ledger)
  return { ...rest, finished: finished.map((finish) => JSON.stringify(finish)).toSorted() }
}

inPostgres('who follows a target that another one owns', ({ newDatabase }) => {
  async function pair(): Promise<[SharedStore, SharedStore, string]> {
    const url = await newDatabase()
    return [await joined(url, 'owner'), await joined(url, 'follower'), url]
  }

  test('knows of every look what the owner knows, and what a restart would', { timeout: 120_000 }, async () => {
    const [owner, follower] = await pair()
    let targets = 0
    await fc.assert(
      fc.asyncProperty(anyLooks, fc.nat(4), async (looks, patience) => {
        const identity = { name: `target ${++targets}`, fingerprint: 'x' }
        const [mine, followed] = [
          await owner.openTarget(identity, CREATED, DAY),
          await follower.openTarget(identity, 0, DAY),
        ]
        await owner.sharing.claim([identity.name], 1)
        let missed = 0
        for (const [i, look] of looks.entries()) {
          const delta = step(mine.ledger, look, OPTIONS)
          if (delta === undefined) continue
          await owner.commit(identity.name, { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
          apply(mine.ledger, delta, DAY)
          if (i % (patience + 1) !== 0) continue
          missed += follow(followed, await follower.sharing.missed(since(identity.name, followed)))
          expect(sorted(followed)).toEqual(sorted(mine))
        }
        missed += follow(followed, await follower.sharing.missed(since(identity.name, followed)))
        expect(missed).toBe(mine.ledger.facts.seq)
        expect(sorted(followed)).toEqual(sorted(mine))
        // A call that comes back after it was forgotten takes the place of its own history: only memory still has both.
        const loaded = sorted(await follower.openTarget(identity, 0, DAY))
        expect({ ...loaded, finished: [] }).toEqual({ ...sorted(mine), finished: [] })
      }),
      { numRuns: 60 },
    )
  })

  test('gets the very deltas that were committed, with calls, transitions and alerts', async () => {
    const [owner, follower] = await pair()
    const [mine, followed] = [await owner.openTarget(A, CREATED, DAY), await follower.openTarget(A, 0, DAY)]
    await owner.sharing.claim(['a'], 1)
    const first = { ...commitOf(mine.ledger, 'b'), alerts: { ...NO_ALERTS, changed: [instance] } }
    await commitTo(owner, 'a', mine.ledger, first)
    const second = {
      ...commitOf(mine.ledger, 'b', 'ended'),
      alerts: { changed: [], ended: [instance], notifications: [notification] },
    }
    await commitTo(owner, 'a', mine.ledger, { ...second, outgoing: [{ change: notification, to: ['slack'] }] })
    const missed = await follower.sharing.missed(since('a', followed))
    expect(missed).toStrictEqual(
      [first, second].map(({ ledger, alerts }) => ({ target: 'a', commit: { ledger, alerts } })),
    )
    // Labels are compared as objects wherever something is counted.
    expect(missed[1]!.commit!.ledger.finishes[0]!.labels).toBe(second.ledger.finishes[0]!.labels)
    expect(missed[1]!.commit!.ledger.transitions[0]!.call.labels).toBe(second.ledger.transitions[0]!.call.labels)
    expect(follow(followed, missed)).toBe(2)
    expect(followed.alerts).toEqual(mine.alerts)
    expect(await follower.sharing.missed(since('a', followed))).toEqual([])
  })

  test('hears of many targets at once, of each in order, and of none that did not change', async () => {
    const [owner, follower] = await pair()
    const known = new Map<string, number>()
    for (let i = 0; i < 20; i++) {
      const identity = { name: `target ${i}`, fingerprint: 'x' }
      const { ledger } = await owner.openTarget(identity, CREATED, DAY)
      await follower.openTarget(identity, CREATED, DAY)
      await owner.sharing.claim([identity.name], 1)
      for (let n = 0; n < i % 4; n++) await commitTo(owner, identity.name, ledger, commitOf(ledger, `call ${n}`))
      known.set(identity.name, 0)
    }
    const missed = await follower.sharing.missed(known)
    const seqs = Map.groupBy(missed, ({ target }) => target)
    for (let i = 0; i < 20; i++) {
      const commits = seqs.get(`target ${i}`) ?? []
      expect(commits.map(({ commit }) => commit?.ledger.facts.seq)).toEqual([1, 2, 3].slice(0, i % 4))
    }
  })

  test('is told to open it anew where the log does not reach back, or is of another version', async () => {
    const [owner, follower, url] = await pair()
    const [mine, followed] = [await owner.openTarget(A, CREATED, DAY), await follower.openTarget(A, 0, DAY)]
    await owner.sharing.claim(['a'], 1)
    for (const call of ['b', 'c', 'd']) await commitTo(owner, 'a', mine.ledger, commitOf(mine.ledger, call))
    const connection = await connect(url)
    const anew = [{ target: 'a', commit: undefined }]
    await connection.run("UPDATE callwatch.commits SET at = at - interval '11 minutes' WHERE seq = 1")
    await owner.trimHistory(0)
    expect(await follower.sharing.missed(since('a', followed))).toEqual(anew)
    expect(await follower.sharing.missed(new Map([['a', 1]]))).toHaveLength(2)
    await connection.run("UPDATE callwatch.commits SET data = '\\x00' WHERE seq = 3")
    expect(await follower.sharing.missed(new Map([['a', 1]]))).toEqual(anew)
    await connection.run('DELETE FROM callwatch.commits')
    expect(await follower.sharing.missed(new Map([['a', 2]]))).toEqual(anew)
    expect(await follower.sharing.missed(new Map([['a', 3]]))).toEqual([])
    expect(await follower.sharing.missed(new Map([['never opened', 3]]))).toEqual([
      { target: 'never opened', commit: undefined },
    ])
    await connection.close()
  })

  test('is told to open it anew where what it knows was taken back, and other commits came in its place', async () => {
    const [owner, follower, url] = await pair()
    const [mine, followed] = [await owner.openTarget(A, CREATED, DAY), await follower.openTarget(A, 0, DAY)]
    await owner.sharing.claim(['a'], 1)
    const connection = await connect(url)
    // As a fail-over does to a standby that had not heard of the last commit.
    const takeBack = async () => {
      await connection.run('DELETE FROM callwatch.commits WHERE seq = (SELECT seq FROM callwatch.targets)')
      await connection.run(
        "UPDATE callwatch.targets SET seq = seq - 1, facts = jsonb_set(facts::jsonb, '{seq}', to_jsonb(seq - 1))::text",
      )
    }
    const anew = [{ target: 'a', commit: undefined }]
    await commitTo(owner, 'a', mine.ledger, commitOf(mine.ledger, 'first'))
    await commitTo(owner, 'a', mine.ledger, commitOf(mine.ledger, 'lost'))
    follow(followed, await follower.sharing.missed(since('a', followed)))
    await takeBack()
    expect(await follower.sharing.missed(since('a', followed))).toEqual(anew)
    const again = (await owner.openTarget(A, CREATED, DAY)).ledger
    await commitTo(owner, 'a', again, commitOf(again, 'other'))
    expect(again.facts.seq).toBe(followed.ledger.facts.seq)
    expect(await follower.sharing.missed(since('a', followed))).toEqual(anew)
    await commitTo(owner, 'a', again, commitOf(again, 'next'))
    expect(await follower.sharing.missed(since('a', followed))).toEqual(anew)
    expect(await owner.sharing.missed(new Map([['a', again.facts.seq]]))).toEqual([])

    // The same for who has opened it, and for who has committed it himself.
    const opened = await follower.openTarget(A, 0, DAY)
    const committed = await owner.openTarget(A, 0, DAY)
    await takeBack()
    const heir = await joined(url, 'heir')
    const inherited = await heir.openTarget(A, 0, DAY)
    await connection.run('UPDATE callwatch.targets SET owner = NULL')
    await heir.sharing.claim(['a'], 1)
    await commitTo(heir, 'a', inherited.ledger, commitOf(inherited.ledger, "heir's"))
    for (const [store, known] of [
      [follower, opened],
      [owner, committed],
    ] as const) {
      // oxfmt-ignore
      expect(await store.sharing.missed(since('a', known))).toEqual(anew)
    }
    await connection.run('DELETE FROM callwatch.commits')
    expect(await follower.sharing.missed(since('a', opened))).toEqual([])
    await connection.close()
  })

  test('is told to open it anew where it was reset, also when it has as many commits again', async () => {
    const [owner, follower] = await pair()
    const { ledger } = await owner.openTarget(A, CREATED, DAY)
    await follower.openTarget(A, CREATED, DAY)
    await owner.sharing.claim(['a'], 1)
    await commitTo(owner, 'a', ledger, commitOf(ledger, 'b'))
    await owner.resetTarget('a', [])
    const anew = [{ target: 'a', commit: undefined }]
    expect(await follower.sharing.missed(new Map([['a', 1]]))).toEqual(anew)
    const { ledger: again } = await owner.openTarget(A, CREATED, DAY)
    await owner.sharing.claim(['a'], 1)
    for (const call of ['c', 'd']) await commitTo(owner, 'a', again, commitOf(again, call))
    expect(await follower.sharing.missed(new Map([['a', 1]]))).toEqual(anew)
    await follower.openTarget(A, CREATED, DAY)
    expect(await follower.sharing.missed(new Map([['a', 1]]))).toMatchObject([
      { commit: { ledger: { facts: { seq: 2 } } } },
    ])
  })
})
