import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { AlertDelta } from '../../../src/alerts/evaluate.ts'
import { apply, newLedger, type Delta, type LedgerState } from '../../../src/ledger/state.ts'
import { step, type LedgerOptions, type Observation } from '../../../src/ledger/step.ts'
import { openReadOnly } from '../../../src/store/sqlite/open-read-only.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { OutboxEntry, Store } from '../../../src/store/store.ts'
import { firingOf, POLL_AGE } from '../../alerts/sample-rules.ts'
import { asked, completeLook, contents, CREATED, seen } from '../../ledger/seen.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const OPTIONS: LedgerOptions = { lookback: 1000, baseline: 'skip', details: 'missing' }
const NO_ALERTS: AlertDelta = { changed: [], ended: [], notifications: [] }
const A = { name: 'a', fingerprint: 'x' }
const DAY = 86_400

function open(path: string) {
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** Steps, commits and applies, as the daemon does. */
async function see(store: ReturnType<typeof open>, ledger: LedgerState, observation: Observation): Promise<Delta> {
  const delta = step(ledger, observation, OPTIONS)!
  await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
  apply(ledger, delta, DAY)
  return delta
}

const notification = firingOf(POLL_AGE, 'a', CREATED, { value: 400, peak: 400 })

const instance: AlertInstance = {
  key: POLL_AGE.name,
  labels: {},
  rule: POLL_AGE,
  state: 'firing',
  since: CREATED,
  firingSince: CREATED,
  credited: 0,
  evaluatedAt: CREATED,
  value: 400,
  peak: 400,
  calls: undefined,
  counts: undefined,
  tooFewSince: undefined,
  toldAt: CREATED,
}

describe('a stored target', () => {
  test('is the same after a restart as it was in memory', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const minutes = { callMinutes: { audio: 0.1, video: 0.2, total: undefined } }
    const ended = {
      initiatedAt: CREATED + 1,
      startedAt: CREATED + 3,
      endedAt: CREATED + 9,
      totalParticipants: 2,
      ...minutes,
    }
    await see(
      store,
      ledger,
      completeLook(5, seen('old', 'ended', { endedAt: CREATED - 5 }), seen('b', 'ongoing', { joined: 2 })),
    )
    await see(
      store,
      ledger,
      completeLook(10, seen('b', 'other'), seen('c', 'ended', { ...ended, hasParticipantList: false })),
    )
    await see(
      store,
      ledger,
      completeLook(11, seen('c', 'rejected', { ...ended, type: 'video', hasParticipantList: false })),
    )
    await store.close()

    const again = await open(path).openTarget(A, CREATED + 500, DAY)
    expect(contents(again.ledger)).toEqual(contents(ledger))
    expect(again.ledger.detailsWanted.size).toBe(1)
  })

  test('keeps when a call without any time was listed, and that an open one was not found', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await see(store, ledger, completeLook(1, seen('open', 'ongoing', { initiatedAt: CREATED })))
    await see(store, ledger, completeLook(2, seen('timeless', 'ended')))
    await see(store, ledger, { sightings: [asked(CREATED + 900, seen('timeless', 'ended'), ['open'])] })
    await store.close()

    const again = await open(path).openTarget(A, CREATED + 901, DAY)
    expect(again.ledger.calls.get('timeless')?.listed).toBe(CREATED + 900)
    expect(again.ledger.calls.get('open')?.notFound).toBe(1)
    expect(contents(again.ledger)).toEqual(contents(ledger))
  })

  test('has its own calls, counts and alerts, whatever the others have', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const B = { name: 'b', fingerprint: 'z' }
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const { ledger: other } = await store.openTarget(B, CREATED, DAY)
    await see(store, ledger, completeLook(1, seen('c', 'ongoing')))
    await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 2 })))
    const delta = step(other, completeLook(1, seen('c', 'ongoing'), seen('d', 'ongoing')), OPTIONS)!
    await store.commit('b', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
    apply(other, delta, DAY)
    await store.close()

    const again = open(path)
    const [a, b] = [await again.openTarget(A, CREATED, DAY), await again.openTarget(B, CREATED, DAY)]
    expect({ ...a, ledger: contents(a.ledger) }).toEqual({ ledger: contents(ledger), alerts: new Map() })
    expect({ ...b, ledger: contents(b.ledger) }).toEqual({
      ledger: contents(other),
      alerts: new Map([[instance.rule.name, instance]]),
    })
  })

  test('that is new is set up at the moment it was first opened', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    expect((await store.openTarget(A, CREATED, DAY)).ledger.facts.created).toBe(CREATED)
    await store.close()
    expect((await open(path).openTarget(A, CREATED + 900, DAY)).ledger.facts.created).toBe(CREATED)
  })

  test('with a name that stood for something else is refused, with what to do', async () => {
    const store = open(':memory:')
    await store.openTarget(A, CREATED, DAY)
    const opened = store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED, DAY)
    await expect(opened).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('--reset-target a'),
    })
  })

  test('that was reset starts from nothing, and costs the others nothing', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await store.openTarget({ name: 'b', fingerprint: 'z' }, CREATED, DAY)
    await see(store, ledger, completeLook(1, seen('c', 'ongoing')))
    await store.resetTarget('a')
    const again = await store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED + 9, DAY)
    expect([again.ledger.calls.size, again.ledger.counters.size, again.ledger.facts.seq]).toEqual([0, 0, 0])
    expect((await store.openTarget({ name: 'b', fingerprint: 'z' }, CREATED + 9, DAY)).ledger.facts.created).toBe(
      CREATED,
    )
  })

  test('that was reset has no count, no call and no alert of before, after a restart neither', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    await store.commit('a', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
    await store.resetTarget('a')
    // Set up again by the first, and read by the second.
    for (const _restart of [1, 2]) {
      const again = await store.openTarget(A, CREATED + 60, DAY)
      expect(contents(again.ledger)).toEqual(contents(newLedger(CREATED + 60)))
      expect(again.alerts.size).toBe(0)
    }
  })

  test('after an outage longer than any window has the calls that finished in it, also after a restart', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await see(store, ledger, completeLook(5))
    await see(store, ledger, completeLook(3 * DAY, seen('c', 'ended', { endedAt: CREATED + 100 })))
    expect(contents(ledger).finished).toHaveLength(1)
    await store.close()
    const again = await open(path).openTarget(A, CREATED, DAY)
    expect(contents(again.ledger).finished).toEqual(contents(ledger).finished)
  })

  test('a call that need not be remembered stays in the history if it was counted, and else goes', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const over = [seen('old', 'ended', { endedAt: CREATED - 5 }), seen('c', 'ended', { endedAt: CREATED + 1 })]
    await see(store, ledger, completeLook(2, ...over))
    const { forgotten } = await see(store, ledger, completeLook(2000))
    expect(forgotten.map(({ id }) => id).toSorted()).toEqual(['c', 'old'])
    await store.close()

    const reopened = open(path)
    const again = await reopened.openTarget(A, CREATED, DAY)
    expect(again.ledger.calls.size).toBe(0)
    expect(contents(again.ledger).finished).toHaveLength(1)
    const history = await reopened.finishedCalls({ since: CREATED, limit: 10 })
    expect(history.map(({ call }) => call.id)).toEqual(['c'])
    await reopened.trimHistory(CREATED + 2)
    expect(await reopened.finishedCalls({ since: CREATED, limit: 10 })).toEqual([])
  })

  test('a call that was forgotten and counts again is remembered again, over a restart', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 1 })))
    await see(store, ledger, completeLook(2000))
    await see(store, ledger, completeLook(2010, seen('c', 'ended')))
    await store.close()
    const again = await open(path).openTarget(A, CREATED, DAY)
    expect(contents(again.ledger).calls).toEqual(contents(ledger).calls)
    expect(again.ledger.calls.size).toBe(1)
  })

  test('trimming the history takes nothing that is still remembered', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 1 })))
    await store.trimHistory(CREATED + 500)
    expect(await store.finishedCalls({ since: CREATED, limit: 10 })).toHaveLength(1)
  })
})

describe('the history', () => {
  const B = { name: 'b', fingerprint: 'y' }

  /** A target of which these calls are over: by `remembered` some are remembered, all others are history only. */
  async function filled(store: Store, target: typeof A, ended: Record<string, number>, remembered: string[] = []) {
    const { ledger } = await store.openTarget(target, CREATED, DAY)
    const calls = Object.entries(ended).map(([id, at]) => seen(id, 'ended', { endedAt: CREATED + at }))
    const first = step(ledger, completeLook(2000, ...calls), OPTIONS)!
    await store.commit(target.name, { ledger: first, alerts: NO_ALERTS, outgoing: [] })
    apply(ledger, first, DAY)
    const forgotten = [...first.calls.values()].filter(({ id }) => !remembered.includes(id))
    const second = { ...step(ledger, completeLook(2001), OPTIONS)!, forgotten }
    await store.commit(target.name, { ledger: second, alerts: NO_ALERTS, outgoing: [] })
    apply(ledger, second, DAY)
    expect([...contents(ledger).calls.keys()]).toEqual(remembered)
    return ledger
  }
  const told = (history: Awaited<ReturnType<Store['finishedCalls']>>) =>
    history.map(({ target, call }) => `${target} ${call.id} ${call.finish!.at - CREATED}`)
  /** As many calls as that, which were over one second after the other. */
  const many = (number: number) =>
    Object.fromEntries(Array.from({ length: number }, (_, i) => [`call ${i}`, 1 + i / 10]))

  test('is of all targets, the newest call first, remembered or not, and no more than are asked for', async () => {
    const store = open(':memory:')
    await filled(store, A, { a1: 10, a2: 200.5, a3: 30, same: 5 }, ['a2', 'same'])
    await filled(store, B, { b1: 20, b2: 100, b3: 300, same: 25 }, ['b1'])
    const all = ['b b3 300', 'a a2 200.5', 'b b2 100', 'a a3 30', 'b same 25', 'b b1 20', 'a a1 10', 'a same 5']
    const since = CREATED
    expect(told(await store.finishedCalls({ since, limit: 8 }))).toEqual(all)
    expect(told(await store.finishedCalls({ since, limit: 100 }))).toEqual(all)
    for (const limit of [0, 1, 2, 3, 5, 7]) {
      expect(told(await store.finishedCalls({ since, limit }))).toEqual(all.slice(0, limit))
    }
    expect(told(await store.finishedCalls({ since: CREATED + 25, limit: 100 }))).toEqual(all.slice(0, 5))
    expect(told(await store.finishedCalls({ since: CREATED + 25.1, limit: 100 }))).toEqual(all.slice(0, 4))
  })

  test('is counted for one target, from one moment to but not at another', async () => {
    const store = open(':memory:')
    await filled(store, A, { a1: 10, a2: 20, a3: 30 }, ['a2'])
    await filled(store, B, { b1: 10, b2: 20 }, ['b1'])
    const total = async (name: string, from: number, to: number) =>
      (await store.countFinished(name, CREATED + from, CREATED + to)).total
    expect([await total('a', 10, 30), await total('a', 10.1, 30.1), await total('a', 0, 10)]).toEqual([2, 2, 0])
    expect([await total('b', 0, 100), await total('c', 0, 100)]).toEqual([2, 0])
  })

  test('loses what is older than it is to be, and nothing that is remembered or not that old, of no target', async () => {
    const store = open(':memory:')
    const a = await filled(store, A, { old: 10, kept: 11, edge: 50, young: 60 }, ['kept'])
    const b = await filled(store, B, { old: 10, kept: 11, edge: 50, young: 60 }, ['kept', 'young'])
    await store.trimHistory(CREATED + 50)
    expect(told(await store.finishedCalls({ since: CREATED, limit: 100 })).toSorted()).toEqual([
      'a edge 50',
      'a kept 11',
      'a young 60',
      'b edge 50',
      'b kept 11',
      'b young 60',
    ])
    for (const [target, ledger] of [[A, a] as const, [B, b] as const]) {
      expect(contents((await store.openTarget(target, CREATED, DAY)).ledger).calls).toEqual(contents(ledger).calls)
    }
  })

  test('leaves calls that are open, lost or baseline alone, however old they are', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const calls = [
      seen('open', 'ongoing', { initiatedAt: CREATED }),
      seen('lost', 'ongoing', { initiatedAt: CREATED }),
      seen('baseline', 'ended', { endedAt: CREATED - 5 }),
    ]
    await see(store, ledger, completeLook(1, ...calls))
    for (const seconds of [2, 3])
      await see(store, ledger, { sightings: [asked(CREATED + seconds, undefined, ['lost'])] })
    await store.trimHistory(CREATED + 100 * DAY)
    const stored = contents((await store.openTarget(A, CREATED, DAY)).ledger).calls
    expect(stored).toEqual(contents(ledger).calls)
    expect([...stored.values()].map(({ phase }) => phase).toSorted()).toEqual(['baseline', 'lost', 'open'])
  })

  test('is trimmed by 2000 calls at a time, of one target first and then of another, until there is no more to trim', async () => {
    const store = open(':memory:')
    await filled(store, A, many(2503), ['call 7'])
    await filled(store, B, many(2501))
    const left = async () => {
      const targets = (await store.finishedCalls({ since: CREATED, limit: 1e6 })).map(({ target }) => target)
      return ['a', 'b'].map((name) => targets.filter((target) => target === name).length)
    }
    expect(await left()).toEqual([2503, 2501])
    for (const expected of [
      [503, 2501],
      [503, 501],
      [1, 0],
      [1, 0],
    ]) {
      await store.trimHistory(CREATED + 1000)
      expect(await left()).toEqual(expected)
    }
    expect(told(await store.finishedCalls({ since: CREATED, limit: 10 }))).toEqual([
      expect.stringContaining('a call 7 '),
    ])
  })

  test('loses with its calls when rules were judged and the minutes of months ago, of each target', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const MONTHS = 100 * DAY
    for (const target of [A, B]) {
      const { ledger } = await store.openTarget(target, CREATED, DAY)
      for (const seconds of [1, MONTHS]) {
        const minutes = { participantMinutes: { audio: 3, video: 0, total: undefined } }
        const delta = step(ledger, completeLook(seconds, seen(`call ${seconds}`, 'ongoing', minutes)), OPTIONS)!
        const evaluated = { kind: 'tick', at: CREATED + seconds, pollAge: 42 } as const
        await store.commit(target.name, { ledger: delta, alerts: NO_ALERTS, outgoing: [], evaluated })
        apply(ledger, delta, DAY)
      }
    }
    const kept = async () => {
      const reader = openReadOnly(path)
      const logs = [await reader.evaluations('a', 0), await reader.evaluations('b', 0)]
      const evaluations = logs.map((log) => log.map(({ at }) => at - CREATED))
      await reader.close()
      const ledgers = [(await store.openTarget(A, 0, DAY)).ledger, (await store.openTarget(B, 0, DAY)).ledger]
      return { evaluations, quarters: ledgers.map(({ usage }) => usage.size) }
    }
    await store.trimHistory(CREATED - DAY)
    const both = [1, MONTHS]
    expect(await kept()).toEqual({ evaluations: [both, both], quarters: [2, 2] })
    await store.trimHistory(CREATED + MONTHS - DAY)
    expect(await kept()).toEqual({ evaluations: [[MONTHS], [MONTHS]], quarters: [1, 1] })
  })
})

describe('a commit', () => {
  test('that does not follow the stored sequence number is refused, and changes nothing', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const first = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    const rival = step(ledger, completeLook(1, seen('c', 'ongoing')), OPTIONS)!
    await store.commit('a', { ledger: first, alerts: NO_ALERTS, outgoing: [] })
    await expect(store.commit('a', { ledger: rival, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
      kind: 'stale',
    })
    await expect(store.commit('a', { ledger: first, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
      kind: 'stale',
    })
    const { ledger: stored } = await store.openTarget(A, CREATED, DAY)
    expect([...contents(stored).calls.keys()]).toEqual(['b'])
    expect(stored.counters).toEqual(first.counters)
  })

  test('that fails on its way leaves nothing behind', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    const broken = { ...delta, counters: new Map<string, number>([['a series', Number.NaN]]) }
    await expect(store.commit('a', { ledger: broken, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
    const { ledger: stored } = await store.openTarget(A, CREATED, DAY)
    expect(stored.counters).toEqual(delta.counters)
  })

  test('of more calls than one statement takes keeps them all', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const calls = Array.from({ length: 257 }, (_, i) => seen(`call ${i}`, 'ongoing'))
    await see(store, ledger, completeLook(1, ...calls))
    expect((await store.openTarget(A, CREATED, DAY)).ledger.open.size).toBe(257)
  })

  test('while another process writes the store is unavailable for now, and works afterwards', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    await expect(store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
      kind: 'unavailable',
    })
    other.exec('ROLLBACK')
    other.close()
    await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
  })

  test('alert instances are kept until they end', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const first = step(ledger, completeLook(1), OPTIONS)!
    await store.commit('a', { ledger: first, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
    apply(ledger, first, DAY)
    const { alerts } = await store.openTarget(A, CREATED, DAY)
    expect(alerts.get('NoGoodPoll')).toEqual(instance)
    const second = step(ledger, completeLook(2), OPTIONS)!
    await store.commit('a', { ledger: second, alerts: { ...NO_ALERTS, ended: [instance] }, outgoing: [] })
    expect((await store.openTarget(A, CREATED, DAY)).alerts.size).toBe(0)
  })
})

describe('the outbox', () => {
  async function filled(path = ':memory:', notifiers = ['slack', 'webhook']) {
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const notifications = [notification, { ...notification, alert: 'Second' }]
    await store.commit('a', {
      ledger: step(ledger, completeLook(1), OPTIONS)!,
      alerts: { ...NO_ALERTS, notifications },
      outgoing: notifications.map((change) => ({ change, to: notifiers })),
    })
    return store
  }
  const alertsOf = (entries: readonly OutboxEntry[]) =>
    entries.map(
      ({ content, claimed }) => `${content.kind === 'digest' ? '' : content.alert}${claimed ? ' claimed' : ''}`,
    )

  test('holds each notification once for each notifier, oldest first, until it is taken out', async () => {
    const store = await filled()
    expect([...(await store.countOutbox())]).toEqual([
      ['slack', 2],
      ['webhook', 2],
    ])
    const entries = await store.outbox('slack')
    expect(entries[0]?.content).toEqual(notification)
    await store.removeFromOutbox([entries[0]!.id])
    expect(alertsOf(await store.outbox('slack'))).toEqual(['Second'])
    expect(alertsOf(await store.outbox('webhook'))).toEqual(['NoGoodPoll', 'Second'])
    expect(await store.outbox('pager')).toEqual([])
  })

  test('remembers over a restart what was about to be delivered', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = await filled(path)
    const [first, second] = await store.outbox('slack')
    await store.claimOutbox([first!.id, second!.id], true)
    await store.claimOutbox([second!.id], false)
    await store.close()
    expect(alertsOf(await open(path).outbox('slack'))).toEqual(['NoGoodPoll claimed', 'Second'])
  })

  test('takes something under a name once, whoever asks again', async () => {
    const store = await filled()
    const digest = { kind: 'digest', digest: { day: '2026-11-19' } } as const
    await store.putOutOnce('digest of 2026-11-19', digest, ['slack'])
    await store.putOutOnce('digest of 2026-11-19', digest, ['slack'])
    expect((await store.outbox('slack')).map(({ content }) => content).slice(2)).toEqual([digest])
  })
})

describe('the end of an alert', () => {
  async function store(path: string, notifiers = ['slack', 'webhook']) {
    const opened = openSqliteStore({ path, notifiers })
    onTestFinished(() => opened.close().catch(() => undefined))
    await opened.openTarget(A, CREATED, DAY)
    return opened
  }
  const tell = async (opened: Store, kind: 'firing' | 'resolved', to: string[]) =>
    opened.closeAlerts('a', [{ change: { ...notification, kind }, to }])
  const kinds = async (opened: Store, notifier: string) =>
    (await opened.outbox(notifier)).map(({ content }) => content.kind)

  test('goes to whoever was to be told of its beginning, wherever the routes lead by then', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const before = await store(path)
    await tell(before, 'firing', ['slack'])
    await before.close()
    const after = await store(path)
    await tell(after, 'resolved', ['webhook'])
    expect([await kinds(after, 'slack'), await kinds(after, 'webhook')]).toEqual([['firing', 'resolved'], ['resolved']])
    await tell(after, 'firing', ['webhook'])
    await tell(after, 'resolved', ['webhook'])
    expect((await kinds(after, 'slack')).length).toBe(2)
  })

  test('goes to nobody who is not there any more, and what waits for him is removed', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const before = await store(path)
    await tell(before, 'firing', ['slack', 'webhook'])
    await before.close()
    const after = await store(path, ['webhook'])
    await tell(after, 'resolved', ['webhook'])
    expect([await kinds(after, 'slack'), await kinds(after, 'webhook')]).toEqual([[], ['firing', 'resolved']])
  })
})

describe('alerts of a target that is watched no more', () => {
  test('are found, and closed with what is to be said of it', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await store.commit('a', {
      ledger: step(ledger, completeLook(1), OPTIONS)!,
      alerts: { ...NO_ALERTS, changed: [instance] },
      outgoing: [],
    })
    expect(await store.strayAlerts(['a'])).toEqual([])
    expect(await store.strayAlerts(['b'])).toMatchObject([{ target: 'a', alerts: [{ key: 'NoGoodPoll' }] }])
    await store.closeAlerts('a', [
      { change: { ...notification, kind: 'closed', closedBecause: 'target removed' }, to: ['slack'] },
    ])
    expect(await store.strayAlerts(['b'])).toEqual([])
    expect((await store.outbox('slack')).map(({ content }) => content.kind)).toEqual(['closed'])
  })
})

describe('a silence', () => {
  const silence = { match: { alert: 'NoGoodPoll' }, since: CREATED, until: CREATED + 60, reason: 'maintenance' }

  test('holds until it ends by itself', async () => {
    const store = open(':memory:')
    const { id } = await store.addSilence(silence)
    expect(await store.silences(CREATED + 59)).toEqual([{ id, ...silence }])
    expect(await store.silences(CREATED + 60)).toEqual([])
  })

  test('can be ended at once, once', async () => {
    const store = open(':memory:')
    const { id } = await store.addSilence(silence)
    expect(await store.endSilence(id)).toBe(true)
    expect(await store.endSilence(id)).toBe(false)
    expect(await store.silences(CREATED)).toEqual([])
  })
})

test('a hold of requests outlives a restart', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = open(path)
  expect(await store.heldUntil('key')).toBeUndefined()
  await store.hold('key', CREATED + 60)
  await store.hold('key', CREATED + 90)
  await store.close()
  expect(await open(path).heldUntil('key')).toBe(CREATED + 90)
})

describe('a store file is refused', () => {
  test('that another daemon holds, naming it; it is free once that one is gone', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    expect(() => open(path)).toThrow(new RegExp(`in use by another callwatch .*process ${process.pid}`))
    await store.close()
    open(path)
  })

  test('that is no database', () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    writeFileSync(path, 'this is a text, and it is long enough to be more than a header of a database file '.repeat(20))
    expect(() => open(path)).toThrow('no SQLite database')
  })

  test('that is a folder, with what to name instead', () => {
    const folder = temporaryFolder()
    expect(() => open(folder)).toThrow(`${folder} is a folder; store.path names a file, such as ${folder}/callwatch.db`)
  })

  test('that is of another program', () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const other = new DatabaseSync(path)
    other.exec('CREATE TABLE notes (text TEXT)')
    other.close()
    expect(() => open(path)).toThrow('a database of another program')
  })

  test('that a newer callwatch wrote', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    await open(path).close()
    const newer = new DatabaseSync(path)
    newer.exec('PRAGMA user_version = 99')
    newer.close()
    expect(() => open(path)).toThrow('written by a newer callwatch (schema 99')
  })
})
