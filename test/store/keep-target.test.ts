import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { COUNTERS } from '../../src/ledger/series.ts'
import { keepTarget } from '../../src/store/keep-target.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { StoreError, type Commit, type Store } from '../../src/store/store.ts'
import { POLL_AGE, RATIO } from '../alerts/sample-rules.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { completeLook, contents, CREATED, seen, total } from '../ledger/seen.ts'

const RULES: Rule[] = [
  {
    ...RATIO,
    name: 'Failing',
    signal: { ...RATIO.signal, minCalls: 2 },
    threshold: 0.5,
    clear: 0.4,
  },
  { ...POLL_AGE, name: 'Blind' },
]

async function keeping(wrap: (store: Store) => Store = (store) => store, rules = RULES) {
  const clock = virtualClock(CREATED)
  const memory = openSqliteStore({ path: ':memory:' })
  const open = () =>
    keepTarget({
      store: wrap(memory),
      clock,
      identity: { name: 'a', fingerprint: 'x' },
      ledger: { lookback: 86_400, baseline: 'skip', details: 'missing' },
      rules,
      route: () => ['slack'],
      interval: 15,
    })
  return { clock, memory, open, keeper: await open() }
}

const failed = (n: number) => seen(`call ${n}`, 'rejected', { endedAt: CREATED + n })

describe('a kept target', () => {
  test('fires in the same commit as the calls that made it fire, and again after a restart it does not', async () => {
    const { keeper, memory, open } = await keeping()
    const committed = await keeper.fold(completeLook(10, failed(1), failed(2)))
    expect(committed?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([['firing', 'Failing']])
    expect((await memory.countOutbox()).get('slack')).toBe(1)
    const again = await open()
    const second = await again.fold(completeLook(25, failed(1), failed(2)))
    expect(second?.alerts.notifications).toEqual([])
    expect(again.alerts.get('Failing')?.state).toBe('firing')
  })

  test('goes on from the history with a call that was counted and evicted, also after a restart', async () => {
    const { keeper, open } = await keeping()
    await keeper.fold(completeLook(10, failed(1)))
    await keeper.fold(completeLook(200_000))
    expect(keeper.ledger.calls.size).toBe(0)
    const again = await open()
    await again.fold(completeLook(200_010, seen('call 1', 'rejected', { endedAt: CREATED + 200_005 })))
    expect([total(again.ledger, COUNTERS.finished), again.ledger.calls.size]).toEqual([1, 1])
  })

  test('counts what an alert had lasted before a restart towards the time that it must last', async () => {
    const lasting = RULES.map((rule) => ({ ...rule, for: 60 }))
    const { clock, keeper, open } = await keeping(undefined, lasting)
    const look = async (kept: typeof keeper, seconds: number) => {
      await clock.advance(15)
      return kept.fold(completeLook(seconds, failed(1), failed(2)))
    }
    for (const seconds of [15, 30, 45]) await look(keeper, seconds)
    const again = await open()
    expect((await look(again, 60))?.alerts.notifications).toEqual([])
    expect((await look(again, 75))?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([
      ['firing', 'Failing'],
    ])
  })

  test('judges the calls of all its looks, not of the last alone', async () => {
    const { keeper } = await keeping()
    await keeper.fold({ sightings: completeLook(10, failed(1)).sightings })
    const committed = await keeper.fold(completeLook(12, failed(2)))
    expect(committed?.alerts.notifications).toHaveLength(1)
  })

  test('changes nothing where the commit fails, and finds the same difference again', async () => {
    let broken = true
    const { keeper } = await keeping((store) => ({
      ...store,
      commit: async (target, commit) => {
        if (broken) throw new StoreError('unavailable', 'the disk is full')
        return store.commit(target, commit)
      },
    }))
    const look = completeLook(10, failed(1), failed(2))
    await expect(keeper.fold(look)).rejects.toThrow('the disk is full')
    expect([keeper.ledger.calls.size, keeper.ledger.facts.seq, keeper.alerts.size]).toEqual([0, 0, 0])
    broken = false
    await keeper.fold(look)
    expect(total(keeper.ledger, COUNTERS.finished)).toBe(2)
    expect(keeper.alerts.size).toBe(1)
  })

  test('counts nothing after a commit whose answer was lost until it knows what was committed, and then that once', async () => {
    const log: Commit[] = []
    let answers = false
    // Of a store that several use, only that there are others matters here.
    const sharing = memoryCluster(virtualClock()).sharing(10)
    const { keeper } = await keeping((store) => ({
      ...store,
      sharing,
      commit: async (target, commit) => {
        await store.commit(target, commit)
        log.push(commit)
        if (!answers) throw new StoreError('unavailable', 'the connection was closed')
      },
    }))
    const look = completeLook(10, failed(1), failed(2))
    await expect(keeper.fold(look)).rejects.toThrow('the connection was closed')
    answers = true
    await expect(keeper.fold(look)).rejects.toThrow('not known yet what was last committed')
    expect([keeper.isUnsure(), keeper.ledger.calls.size, log.length]).toEqual([true, 0, 1])
    const followed = await keeper.follow(log)
    expect(followed.map(({ alerts }) => alerts.notifications.length)).toEqual([1])
    await keeper.follow(log)
    await keeper.fold(completeLook(25, failed(1), failed(2), failed(3)))
    expect([keeper.isUnsure(), total(keeper.ledger, COUNTERS.finished)]).toEqual([false, 3])
  })

  test('moves on by what another daemon commits just as that one does, ages and alerts included', async () => {
    const log: Commit[] = []
    const { clock, keeper, open } = await keeping((store) => ({
      ...store,
      commit: async (target, commit) => {
        await store.commit(target, commit)
        log.push(commit)
      },
    }))
    const other = await open()
    await keeper.fold(completeLook(10, failed(1), failed(2)))
    await clock.advance(15)
    await keeper.fold(completeLook(15, failed(1), failed(3)))
    await clock.advance(5)
    await other.follow(log)
    expect(contents(other.ledger)).toEqual(contents(keeper.ledger))
    expect(other.alerts).toEqual(keeper.alerts)
    expect([other.lookAge(), other.judgedAge()]).toEqual([5, 0])
    // What it knows already, and what does not follow upon that, it leaves alone.
    await other.follow([
      ...log,
      { ...log[1]!, ledger: { ...log[1]!.ledger, facts: { ...log[1]!.ledger.facts, seq: 9 } } },
    ])
    expect(other.ledger.facts.seq).toBe(2)
  })

  test('is as old as before where the commit of a good look fails', async () => {
    let broken = false
    const { clock, keeper } = await keeping((store) => ({
      ...store,
      commit: async (target, commit) => {
        if (broken) throw new StoreError('unavailable', 'the disk is full')
        return store.commit(target, commit)
      },
    }))
    await keeper.fold(completeLook(0))
    broken = true
    await clock.advance(400)
    await expect(keeper.fold(completeLook(400))).rejects.toThrow('the disk is full')
    expect([keeper.lookAge(), keeper.sweepAge()]).toEqual([400, 400])
    broken = false
    const fired = await keeper.tick()
    expect(fired?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([['firing', 'Blind']])
  })

  test('works off what it is given one after the other', async () => {
    const { keeper } = await keeping()
    const looks = [1, 2, 3].map((seconds) =>
      keeper.fold(completeLook(seconds, seen('a', 'ongoing'), seen(`b${seconds}`, 'ongoing'))),
    )
    const committed = await Promise.all([...looks, keeper.tick()])
    expect(committed.map((one) => one?.ledger.facts.seq)).toEqual([1, 2, 3, undefined])
    expect(total(keeper.ledger, COUNTERS.started)).toBe(4)
  })

  test('says how long ago the last good look was, over a restart and whatever the wall clock does', async () => {
    const { clock, keeper, open } = await keeping()
    await clock.advance(20)
    expect(keeper.lookAge()).toBe(20)
    await keeper.fold(completeLook(20))
    await clock.advance(30)
    clock.stepWall(-5000)
    expect(keeper.lookAge()).toBe(30)
    clock.stepWall(5000)
    expect((await open()).lookAge()).toBe(30)
  })

  test('says how long ago the last whole look began, which an incremental one is not', async () => {
    const { clock, keeper, open } = await keeping()
    expect(keeper.sweepAge()).toBeUndefined()
    await clock.advance(20)
    const look = completeLook(20)
    await keeper.fold({ ...look, end: { ...look.end!, began: CREATED + 15 } })
    await clock.advance(30)
    await keeper.fold({ ...completeLook(50), end: { ...completeLook(50).end!, whole: false } })
    expect([keeper.sweepAge(), keeper.lookAge()]).toEqual([35, 0])
    expect((await open()).sweepAge()).toBe(35)
  })

  test('tells of no poll age that the pause before it made, until its own first look had its chance', async () => {
    const { clock, keeper, open } = await keeping()
    await keeper.fold(completeLook(0))
    await clock.advance(3600)
    const again = await open()
    expect(await again.tick()).toBeUndefined()
    await clock.advance(31)
    const fired = await again.tick()
    expect(fired?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([['firing', 'Blind']])
  })

  test('fires on a poll that hangs, and resolves at the next good look', async () => {
    const { clock, keeper } = await keeping()
    await clock.advance(301)
    const fired = await keeper.tick()
    expect(fired?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([['firing', 'Blind']])
    const resolved = await keeper.fold(completeLook(301))
    expect(resolved?.alerts.notifications.map(({ kind, alert }) => [kind, alert])).toEqual([['resolved', 'Blind']])
    expect(keeper.alerts.size).toBe(0)
    expect((await keeper.fold(completeLook(302)))?.alerts.notifications).toEqual([])
  })
})
