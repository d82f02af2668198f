import { describe, expect, test } from 'vitest'
import type { Rule } from '../../../src/alerts/rule.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { quarterHourOf } from '../../../src/ledger/usage.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Commit, Store } from '../../../src/store/store.ts'
import { commitObservation, tick } from '../../../src/pipeline/pipeline.ts'
import { NO_POLL } from '../../../src/pipeline/health.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { episodesIn } from '../../kit/store/place.ts'
import { completePoll, CREATED, seen, total } from '../../kit/ledger/seen.ts'

const HOUR = 3600

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

async function opened(wrap: (store: Store) => Store = (store) => store, rules = RULES) {
  const clock = virtualClock(CREATED)
  const memory = openSqliteStore({ path: ':memory:' })
  const settings = { target: targetConfig({ name: 'a' }), poll: pollConfig(), rules }
  const open = (before?: Target) => openTarget({ settings, store: wrap(memory), clock, before })
  return { clock, memory, open, target: await open() }
}

const storeOn =
  (disk: { isFull: boolean }) =>
  (store: Store): Store => ({
    ...store,
    commit: async (target, commit) => {
      if (disk.isFull) throw new StoreError('unavailable', 'the disk is full')
      return store.commit(target, commit)
    },
  })

/** The kind and alert of each notification of a commit. */
const notified = (commit: Awaited<ReturnType<typeof tick>>) =>
  commit?.alerts.notifications.map(({ kind, alert }) => [kind, alert])

const failed = (n: number) => seen(`call ${n}`, 'rejected', { initiatedAt: CREATED + n - 1, endedAt: CREATED + n })

describe('a target', () => {
  test.each([0, 3 * HOUR, -3 * HOUR])(
    'knows after a restart how old its last sweep is, of a service that is %i s ahead',
    async (ahead) => {
      const { clock, open, target } = await opened()
      for (const hours of [0, 2]) {
        const hostTime = CREATED + hours * HOUR
        const times = {
          serviceTime: hostTime + ahead,
          beganServiceTime: hostTime + ahead,
          hostTime,
          beganHostTime: hostTime,
        }
        const poll = completePoll(0)
        await commitObservation(target, { ...poll, clockSkew: ahead, success: { ...poll.success!, ...times } })
      }
      await clock.advance(2 * HOUR + 900)
      expect((await open()).sweepAge()).toBeCloseTo(900)
    },
  )

  test.each([10, 10.0001, 10.0004, 10.0006])(
    'evaluates calls that finished when the poll ended, %d s after the set-up',
    async (seconds) => {
      const { target } = await opened()
      await commitObservation(target, completePoll(1))
      // Without an end they finished when they were first seen so.
      const endless = ['a', 'b'].map((id) => seen(id, 'rejected', { initiatedAt: CREATED + 5 }))
      expect(notified(await commitObservation(target, completePoll(seconds, ...endless)))).toEqual([
        ['firing', 'Failing'],
      ])
    },
  )

  test('fires in the same commit as the calls that made it fire, and again after a restart it does not', async () => {
    const { target, memory, open } = await opened()
    expect(notified(await commitObservation(target, completePoll(10, failed(1), failed(2))))).toEqual([
      ['firing', 'Failing'],
    ])
    expect(await episodesIn(memory)).toEqual(['Failing'])
    const again = await open()
    const second = await commitObservation(again, completePoll(25, failed(1), failed(2)))
    expect(second?.alerts.notifications).toEqual([])
    expect(again.alerts.get('Failing')?.state).toBe('firing')
  })

  test('knows the user minutes of the month, corrected ones, too, before and after a restart, unless calls have expired', async () => {
    const signal = { name: 'budget_minutes', limit: 100, of: 'duration', timezone: 'UTC', cycleDay: 1 } as const
    const rules = [ruleOn(signal, { name: 'Budget', threshold: 0.25, clear: 0.25 })]
    const { target, memory, open } = await opened((store) => store, rules)
    const ended = (totalParticipants: number) =>
      seen('a', 'ended', { startedAt: CREATED - 505, endedAt: CREATED + 95, totalParticipants })
    const commit = async (seconds: number, participants: number) =>
      notified(await commitObservation(target, completePoll(seconds, ended(participants))))
    expect(await commit(110, 2)).toEqual([])
    expect(await commit(2000, 3)).toEqual([['firing', 'Budget']])
    const quarter = quarterHourOf(CREATED + 110)
    expect(quarter).not.toBe(quarterHourOf(CREATED + 95))
    expect(target.ledger.userMinutes).toEqual(new Map([[quarter, 30]]))
    expect((await open()).ledger.userMinutes).toEqual(new Map([[quarter, 30]]))
    for (const seconds of [200_000, 200_001]) await commitObservation(target, completePoll(seconds))
    await memory.deleteExpired(CREATED + 1000)
    expect((await open()).ledger.userMinutes).toBeUndefined()
  })

  test('has no user minutes unless a rule needs them', async () => {
    const { target } = await opened()
    await commitObservation(target, completePoll(10, failed(1)))
    expect(target.ledger.userMinutes).toBeUndefined()
  })

  test('continues from the history with a call that was counted and evicted, also after a restart', async () => {
    const { target, open } = await opened()
    await commitObservation(target, completePoll(10, failed(1)))
    for (const seconds of [200_000, 200_001]) await commitObservation(target, completePoll(seconds))
    expect(target.ledger.calls.size).toBe(0)
    const again = await open()
    await commitObservation(again, completePoll(200_010, { ...failed(1), endedAt: CREATED + 200_005 }))
    expect([total(again.ledger, COUNTERS.finished), again.ledger.calls.size]).toEqual([1, 1])
  })

  test('notes the times without a successful poll that were longer than three intervals', async () => {
    const { target, memory, open } = await opened()
    const gaps = async () =>
      (await memory.rows('SELECT began, ended FROM callwatch.gaps', [])).map(({ began, ended }) =>
        [began, ended].map((time) => Number(time) - CREATED),
      )
    await commitObservation(target, completePoll(46))
    expect(await gaps()).toEqual([[0, 46]])
    for (const seconds of [61, 106]) await commitObservation(target, completePoll(seconds))
    // A poll that is not successful ends nothing.
    await commitObservation(target, { answers: completePoll(130, failed(1)).answers })
    expect(await gaps()).toEqual([[0, 46]])
    const again = await open()
    for (const seconds of [152, 167]) await commitObservation(again, completePoll(seconds))
    expect(await gaps()).toEqual([
      [0, 46],
      [106, 152],
    ])
  })

  test('notes no such time where the service shows a false time while it is polled', async () => {
    const { target, memory } = await opened()
    const ahead = 3000
    await commitObservation(target, completePoll(15))
    for (const seconds of [30, 45]) {
      const { answers, success } = completePoll(seconds + ahead)
      await commitObservation(target, { answers, success: { ...success!, hostTime: CREATED + seconds } })
    }
    await commitObservation(target, completePoll(60))
    expect(await memory.rows('SELECT began, ended FROM callwatch.gaps', [])).toEqual([])
  })

  test('notes such a time as long as the host saw it, where the service shows a false time after it', async () => {
    const { target, memory } = await opened()
    await commitObservation(target, completePoll(15))
    const { answers, success } = completePoll(4000)
    await commitObservation(target, { answers, success: { ...success!, hostTime: CREATED + 100 } })
    const [gap] = await memory.rows('SELECT began, ended FROM callwatch.gaps', [])
    expect([gap?.['began'], gap?.['ended']]).toEqual([CREATED + 3915, CREATED + 4000])
  })

  test('misses no poll while the first one reads page after page, until a page is late by a minute', async () => {
    const { clock, target } = await opened(undefined, [POLL_AGE])
    for (let page = 1; page <= 20; page++) {
      await clock.advance(30)
      await commitObservation(target, { answers: completePoll(30 * page, failed(page)).answers })
      expect(notified(await tick(target))).toBeUndefined()
    }
    expect(target.evaluationAge()).toBe(0)
    await clock.advance(59)
    expect(notified(await tick(target))).toBeUndefined()
    await clock.advance(1)
    expect(notified(await tick(target))).toEqual([['firing', 'NoGoodPoll']])
  })

  test('counts the time that an alert was pending before a restart towards `for`', async () => {
    const lasting = RULES.map((rule) => ({ ...rule, for: 60 }))
    const { clock, target, open } = await opened(undefined, lasting)
    const poll = async (kept: typeof target, seconds: number) => {
      await clock.advance(15)
      return commitObservation(kept, completePoll(seconds, failed(1), failed(2)))
    }
    for (const seconds of [15, 30, 45]) await poll(target, seconds)
    const again = await open()
    expect((await poll(again, 60))?.alerts.notifications).toEqual([])
    expect(notified(await poll(again, 75))).toEqual([['firing', 'Failing']])
  })

  test('evaluates its rules on the calls of all polls, not of the last alone', async () => {
    const { target } = await opened()
    await commitObservation(target, { answers: completePoll(10, failed(1)).answers })
    const committed = await commitObservation(target, completePoll(12, failed(2)))
    expect(committed?.alerts.notifications).toHaveLength(1)
  })

  test('changes nothing where the commit fails, and counts the same change at the next poll', async () => {
    const disk = { isFull: true }
    const { target } = await opened(storeOn(disk))
    const poll = completePoll(10, failed(1), failed(2))
    await expect(commitObservation(target, poll)).rejects.toThrow('the disk is full')
    expect([target.ledger.calls.size, target.ledger.sync.seq, target.alerts.size]).toEqual([0, 0, 0])
    disk.isFull = false
    await commitObservation(target, poll)
    expect(total(target.ledger, COUNTERS.finished)).toBe(2)
    expect(target.alerts.size).toBe(1)
  })

  test('counts nothing after a commit whose answer was lost until it knows what was committed, and then counts it once', async () => {
    const log: Commit[] = []
    let answers = false
    // Of a store that several use, only that there are others matters here.
    const cluster = memoryCluster(virtualClock()).clusterStore(10)
    const { target, open } = await opened((store) => ({
      ...store,
      cluster,
      commit: async (target, commit) => {
        await store.commit(target, commit)
        log.push(commit)
        if (!answers) throw new StoreError('unavailable', 'the connection was closed')
      },
    }))
    const poll = completePoll(10, failed(1), failed(2))
    await expect(commitObservation(target, poll)).rejects.toThrow('the connection was closed')
    answers = true
    await expect(commitObservation(target, poll)).rejects.toThrow('not known yet what was last committed')
    expect([target.lastCommitUnknown, target.ledger.calls.size, log.length]).toEqual([true, 0, 1])
    const again = await open()
    expect(again.alerts.size).toBe(1)
    await commitObservation(again, completePoll(25, failed(1), failed(2), failed(3)))
    expect([again.lastCommitUnknown, total(again.ledger, COUNTERS.finished)]).toEqual([false, 3])
  })

  test('has the poll age of before where the commit of a successful poll fails', async () => {
    const disk = { isFull: false }
    const { clock, target } = await opened(storeOn(disk))
    await commitObservation(target, completePoll(0))
    disk.isFull = true
    await clock.advance(400)
    await expect(commitObservation(target, completePoll(400))).rejects.toThrow('the disk is full')
    expect([target.pollAge(), target.sweepAge()]).toEqual([400, 400])
    disk.isFull = false
    expect(notified(await tick(target))).toEqual([['firing', 'Blind']])
  })

  test('keeps finished calls as far back as the rules need with which it was loaded, also after a reload', async () => {
    const longest = RULES.map((rule) => ({ ...rule, signal: { ...RATIO.signal, window: 48 * 3600 } }))
    const { target } = await opened(undefined, longest)
    const early = seen('early', 'ended', { endedAt: CREATED - 40 * 3600 })
    await commitObservation(target, {
      answers: completePoll(1, seen('open', 'ongoing', { initiatedAt: CREATED - 41 * 3600 })).answers,
    })
    await commitObservation(target, completePoll(2, { ...early, id: 'open', session: 'open' }))
    target.settings = { ...target.settings, rules: [] }
    await commitObservation(
      target,
      completePoll(3, { ...early, id: 'open', session: 'open' }, seen('late', 'ended', { endedAt: CREATED + 2 })),
    )
    expect(target.ledger.finished.between(-Infinity, Infinity)).toHaveLength(2)
  })

  test('commits its observations one after the other', async () => {
    const { target } = await opened()
    const counts = [1, 2, 3].map((seconds) =>
      commitObservation(target, completePoll(seconds, seen('a', 'ongoing'), seen(`b${seconds}`, 'ongoing'))),
    )
    const committed = await Promise.all([...counts, tick(target)])
    expect(committed.map((one) => one?.ledger.sync.seq)).toEqual([1, 2, 3, undefined])
    expect(total(target.ledger, COUNTERS.started)).toBe(4)
  })

  test('keeps its poll age over a restart and steps of the wall clock', async () => {
    const { clock, target, open } = await opened()
    await clock.advance(20)
    expect(target.pollAge()).toBe(20)
    await commitObservation(target, completePoll(20))
    await clock.advance(30)
    clock.stepWall(-5000)
    expect(target.pollAge()).toBe(30)
    clock.stepWall(5000)
    expect((await open()).pollAge()).toBe(30)
  })

  test('has the age of the last complete sweep, counted from its start', async () => {
    const { clock, target, open } = await opened()
    expect(target.sweepAge()).toBeUndefined()
    await clock.advance(20)
    const poll = completePoll(20)
    await commitObservation(target, { ...poll, success: { ...poll.success!, beganServiceTime: CREATED + 15 } })
    await clock.advance(30)
    await commitObservation(target, {
      ...completePoll(50),
      success: { ...completePoll(50).success!, endsSweep: false },
    })
    expect([target.sweepAge(), target.pollAge()]).toEqual([35, 0])
    expect((await open()).sweepAge()).toBe(35)
  })

  test('does not fire on the poll age of a pause before its start until it could poll', async () => {
    const { clock, target, open } = await opened()
    await commitObservation(target, completePoll(0))
    await clock.advance(3600)
    const again = await open()
    expect(await tick(again)).toBeUndefined()
    await clock.advance(31)
    expect(notified(await tick(again))).toEqual([['firing', 'Blind']])
  })

  test('fires on the poll age as soon as it has polled, however recently it started', async () => {
    const { clock, target } = await opened(undefined, [{ ...POLL_AGE, name: 'Blind', threshold: 10, clear: 10 }])
    await commitObservation(target, completePoll(0))
    await clock.advance(11)
    expect(notified(await tick(target))).toEqual([['firing', 'Blind']])
  })

  test('names the last good poll when it fires on the poll age', async () => {
    const { clock, target } = await opened()
    await commitObservation(target, completePoll(0))
    await clock.advance(301)
    const fired = await tick(target)
    expect(fired?.alerts.notifications).toMatchObject([{ alert: 'Blind', lastPoll: CREATED }])
  })

  test('fires on requests that fail though polls succeed', async () => {
    const errors: Rule = { ...RATIO, name: 'Errors', signal: { name: 'request_errors', window: 900, minRequests: 4 } }
    const { clock, target } = await opened(undefined, [errors])
    await commitObservation(target, completePoll(0))
    const requests = ['503', '200', 'timeout', '200'].map(
      (code) => ({ operation: 'list_calls', code, seconds: 1 }) as const,
    )
    target.record.add({ ...NO_POLL, successful: true, requests })
    const fired = await tick(target)
    expect(notified(fired)).toEqual([['firing', 'Errors']])
    expect(fired?.alerts.changed).toMatchObject([{ evidence: { isQuiet: false } }])
    // Two minutes later its errors are past, once a request was answered.
    const quietAfter = async (seconds: number) => {
      await clock.advance(seconds)
      return (await tick(target))?.alerts.changed.map(({ evidence }) => evidence?.isQuiet)
    }
    expect(await quietAfter(121)).toEqual([false])
    target.record.add({ ...NO_POLL, successful: true, requests: requests.slice(1, 2) })
    expect(await quietAfter(1)).toEqual([true])
  })

  test('fires on a poll that hangs, and resolves at the next successful poll', async () => {
    const { clock, target } = await opened()
    await clock.advance(301)
    const fired = await tick(target)
    expect(target.evaluationAge()).toBe(0)
    expect(notified(fired)).toEqual([['firing', 'Blind']])
    expect(notified(await commitObservation(target, completePoll(301)))).toEqual([['resolved', 'Blind']])
    expect(target.alerts.size).toBe(0)
    expect((await commitObservation(target, completePoll(302)))?.alerts.notifications).toEqual([])
  })
})

test('a target that is loaded again knows when answers last showed its calls as open', async () => {
  const { open, target } = await opened()
  target.memory.shownOpen.note([seen('a', 'initiated')], CREATED + 10)
  const row = seen('a', 'rejected')
  const again = await open(target)
  again.memory.shownOpen.note([row], CREATED + 9000)
  expect(row.openUntil).toBe(CREATED + 10)
})
