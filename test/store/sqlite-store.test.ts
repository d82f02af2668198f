import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertInstance } from '../../src/alerts/alert-instance.ts'
import type { AlertDelta } from '../../src/alerts/evaluate.ts'
import { apply, newLedger, type Delta, type LedgerState } from '../../src/ledger/state.ts'
import { step, type LedgerOptions, type Observation } from '../../src/ledger/step.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { OutboxEntry, Store } from '../../src/store/store.ts'
import { firingOf, POLL_AGE } from '../alerts/sample-rules.ts'
import { asked, completeLook, CREATED, seen } from '../ledger/seen.ts'
import { temporaryFolder } from './temporary-folder.ts'

const OPTIONS: LedgerOptions = { lookback: 1000, baseline: 'skip', details: 'missing' }
const NO_ALERTS: AlertDelta = { changed: [], ended: [], notifications: [] }
const A = { name: 'a', fingerprint: 'x' }
const DAY = 86_400

function open(path: string, notifiers = ['slack']) {
  const store = openSqliteStore({ path, notifiersFor: () => notifiers })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** Steps, commits and applies, as the daemon does. */
async function see(store: ReturnType<typeof open>, ledger: LedgerState, observation: Observation): Promise<Delta> {
  const delta = step(ledger, observation, OPTIONS)!
  await store.commit('a', { ledger: delta, alerts: NO_ALERTS })
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
    expect(again.ledger).toEqual(ledger)
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
    expect(again.ledger).toEqual(ledger)
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
    await store.commit('b', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] } })
    apply(other, delta, DAY)
    await store.close()

    const again = open(path)
    expect(await again.openTarget(A, CREATED, DAY)).toEqual({ ledger, alerts: new Map() })
    expect(await again.openTarget(B, CREATED, DAY)).toEqual({
      ledger: other,
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
    await store.commit('a', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] } })
    await store.resetTarget('a')
    // Set up again by the first, and read by the second.
    for (const _restart of [1, 2]) {
      const again = await store.openTarget(A, CREATED + 60, DAY)
      expect(again.ledger).toEqual(newLedger(CREATED + 60))
      expect(again.alerts.size).toBe(0)
    }
  })

  test('after an outage longer than any window has the calls that finished in it, also after a restart', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await see(store, ledger, completeLook(5))
    await see(store, ledger, completeLook(3 * DAY, seen('c', 'ended', { endedAt: CREATED + 100 })))
    expect(ledger.finished).toHaveLength(1)
    await store.close()
    expect((await open(path).openTarget(A, CREATED, DAY)).ledger.finished).toEqual(ledger.finished)
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
    expect(again.ledger.finished).toHaveLength(1)
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
    expect(again.ledger.calls).toEqual(ledger.calls)
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

describe('a commit', () => {
  test('that does not follow the stored sequence number is refused, and changes nothing', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const first = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    const rival = step(ledger, completeLook(1, seen('c', 'ongoing')), OPTIONS)!
    await store.commit('a', { ledger: first, alerts: NO_ALERTS })
    await expect(store.commit('a', { ledger: rival, alerts: NO_ALERTS })).rejects.toMatchObject({ kind: 'stale' })
    await expect(store.commit('a', { ledger: first, alerts: NO_ALERTS })).rejects.toMatchObject({ kind: 'stale' })
    const { ledger: stored } = await store.openTarget(A, CREATED, DAY)
    expect([...stored.calls.keys()]).toEqual(['b'])
    expect(stored.counters).toEqual(first.counters)
  })

  test('that fails on its way leaves nothing behind', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
    const broken = { ...delta, counters: new Map<string, number>([['a series', Number.NaN]]) }
    await expect(store.commit('a', { ledger: broken, alerts: NO_ALERTS })).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await store.commit('a', { ledger: delta, alerts: NO_ALERTS })
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
    await expect(store.commit('a', { ledger: delta, alerts: NO_ALERTS })).rejects.toMatchObject({ kind: 'unavailable' })
    other.exec('ROLLBACK')
    other.close()
    await store.commit('a', { ledger: delta, alerts: NO_ALERTS })
  })

  test('alert instances are kept until they end', async () => {
    const store = open(':memory:')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const first = step(ledger, completeLook(1), OPTIONS)!
    await store.commit('a', { ledger: first, alerts: { ...NO_ALERTS, changed: [instance] } })
    apply(ledger, first, DAY)
    const { alerts } = await store.openTarget(A, CREATED, DAY)
    expect(alerts.get('NoGoodPoll')).toEqual(instance)
    const second = step(ledger, completeLook(2), OPTIONS)!
    await store.commit('a', { ledger: second, alerts: { ...NO_ALERTS, ended: [instance] } })
    expect((await store.openTarget(A, CREATED, DAY)).alerts.size).toBe(0)
  })
})

describe('the outbox', () => {
  async function filled(path = ':memory:', notifiers = ['slack', 'webhook']) {
    const store = open(path, notifiers)
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    const notifications = [notification, { ...notification, alert: 'Second' }]
    await store.commit('a', {
      ledger: step(ledger, completeLook(1), OPTIONS)!,
      alerts: { ...NO_ALERTS, notifications },
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
  async function store(notifiersFor: () => string[], notifiers = ['slack', 'webhook'], path = ':memory:') {
    const opened = openSqliteStore({ path, notifiers, notifiersFor })
    onTestFinished(() => opened.close().catch(() => undefined))
    await opened.openTarget(A, CREATED, DAY)
    return opened
  }
  const told = async (opened: Store, kind: 'firing' | 'resolved') =>
    opened.closeAlerts('a', [{ ...notification, kind }])
  const kinds = async (opened: Store, notifier: string) =>
    (await opened.outbox(notifier)).map(({ content }) => content.kind)

  test('goes to whoever was to be told of its beginning, wherever the routes lead by then', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const before = await store(() => ['slack'], undefined, path)
    await told(before, 'firing')
    await before.close()
    const after = await store(() => ['webhook'], undefined, path)
    await told(after, 'resolved')
    expect([await kinds(after, 'slack'), await kinds(after, 'webhook')]).toEqual([['firing', 'resolved'], ['resolved']])
    await told(after, 'firing')
    await told(after, 'resolved')
    expect((await kinds(after, 'slack')).length).toBe(2)
  })

  test('goes to nobody who is not there any more, and what waits for him is removed', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const before = await store(() => ['slack', 'webhook'], undefined, path)
    await told(before, 'firing')
    await before.close()
    const after = await store(() => ['webhook'], ['webhook'], path)
    await told(after, 'resolved')
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
    })
    expect(await store.strayAlerts(['a'])).toEqual([])
    expect(await store.strayAlerts(['b'])).toMatchObject([{ target: 'a', alerts: [{ key: 'NoGoodPoll' }] }])
    await store.closeAlerts('a', [{ ...notification, kind: 'closed', closedBecause: 'target removed' }])
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
