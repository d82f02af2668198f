import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../src/store/postgres/connection.ts'
import type { NotifiedRow, Store } from '../../../../src/store/store.ts'
import { CREATED } from '../../../kit/ledger/seen.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { eventually } from '../../../kit/eventually.ts'
import { DAY, episodesIn, instance, NO_ALERTS, notification } from '../../../kit/store/place.ts'
import { emptied, endLease, joined, openShared, owner, replicaOf } from '../../../kit/store/postgres/daemon.ts'

const named = (name: string) => ({ name, fingerprint: `of ${name}` })
const FIRING = { ...NO_ALERTS, changed: [instance], notifications: [notification] }
const closed = (expiredBecause: 'target removed' | 'target reset') => [
  { ...notification, kind: 'expired' as const, expiredBecause },
]

/** That a receiver was told something, in a row of its name. */
const told = (receiver: string): NotifiedRow => ({ id: receiver, receiver, accepted: true, data: '{}' })
const toldIn = async (store: Store) => (await store.notified()).rows.map(({ id }) => id).toSorted()

/** Waits until a statement waits for a lock; cancels it, if that is asked for. */
async function untilLocked({ rows }: Pick<Store, 'rows'>, column: '1' | 'pg_cancel_backend(pid)' = '1') {
  const waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
  await eventually(async () => (await rows(`SELECT ${column} ${waiting}`, []))[0], 60)
}

inPostgres('the daemons on one database', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  test('see each other in the order in which they joined, with their notes, and the owner of each target', async () => {
    const url = await newDatabase()
    const [first, second] = [await joined(url, 'first'), await joined(url, 'second')]
    for (const name of ['a', 'b', 'c']) await first.openTarget(named(name), CREATED, DAY)
    await first.cluster.acquire(['a'], 9)
    await second.cluster.acquire(['a', 'b'], 9)
    await first.cluster.renew('{"at":1}')
    const seen = (await second.cluster.renew('{"at":2}'))!
    expect(seen.members.map(({ name, status }) => `${name} ${status}`)).toEqual(['first {"at":1}', 'second {"at":2}'])
    const [one, two] = seen.members.map(({ id }) => id)
    expect(seen).toMatchObject({ self: two, differing: undefined })
    expect(seen.owners).toEqual(new Map([['a', one], ['b', two]])) // oxfmt-ignore
  })

  test('own what they claim until they release it, or leave, or their lease ends', async () => {
    const url = await newDatabase()
    const [first, second] = [await joined(url, 'first'), await joined(url, 'second')]
    const all = ['a', 'b', 'c']
    for (const name of all) await first.openTarget(named(name), CREATED, DAY)
    expect(await first.cluster.acquire(all, 2)).toEqual(['a', 'b'])
    expect(await second.cluster.acquire(all, 9)).toEqual(['c'])
    await first.cluster.release(['a', 'c'])
    expect(await second.cluster.acquire(all, 9)).toEqual(['a'])
    await second.cluster.leave()
    expect(await first.cluster.acquire(all, 1)).toEqual(['a'])
    const third = await joined(url, 'third')
    expect(await third.cluster.acquire(all, 9)).toEqual(['c'])
    await endLease(url, 'first')
    await third.cluster.renew('{}')
    expect((await third.cluster.acquire(all, 9)).toSorted()).toEqual(['a', 'b'])
    expect(await first.cluster.renew('{}')).toBeUndefined()
  })

  test('live on with a lease that ended, until another daemon finds that', async () => {
    const url = await newDatabase()
    const { store } = await owner(url, 'only', { lease: 0.2 })
    const connection = await connect(url)
    await connection.run('SELECT pg_sleep(0.4)')
    await connection.close()
    expect((await store.cluster.renew('{}'))?.owners.size).toBe(1)
  })

  test('that were dead come back as another one, and own nothing', async () => {
    const url = await newDatabase()
    const { store } = await owner(url, 'one', { lease: 0.1 })
    await store.cluster.renew('{}')
    const other = await joined(url, 'two')
    await eventually(async () => ((await other.cluster.renew('{}'))?.members.length === 1 ? true : undefined), 60)
    expect(await store.cluster.renew('{}')).toBeUndefined()
    expect(await store.cluster.acquire(['a'], 1)).toEqual([])
    await store.cluster.join('one', '{}', {})
    const beat = await store.cluster.renew('{}')
    expect([beat?.members.map(({ name }) => name), beat?.owners.size]).toEqual([['two', 'one'], 0])
  })

  test('live on while a dead one cannot be deleted, since its commit still runs', async () => {
    const url = await newDatabase()
    await owner(url, 'dead')
    const other = await joined(url, 'other')
    await endLease(url, 'dead')
    const connection = await connect(url)
    await connection.run('BEGIN; SELECT FROM callwatch.targets FOR UPDATE')
    const beat = other.cluster.renew('{}')
    // As the timeout of a statement does.
    await untilLocked(other, 'pg_cancel_backend(pid)')
    expect((await beat)?.members.map(({ name }) => name)).toEqual(['dead', 'other'])
    await connection.close()
    expect((await other.cluster.renew('{}'))?.members.map(({ name }) => name)).toEqual(['other'])
    expect(await other.cluster.acquire(['a'], 1)).toEqual(['a'])
  })

  test('claim many targets at once, and none is given to two of them', async () => {
    const url = await newDatabase()
    const daemons = await Promise.all(Array.from({ length: 6 }, (_, i) => joined(url, `daemon ${i}`)))
    const all = Array.from({ length: 120 }, (_, i) => `target ${i}`)
    for (const name of all) await daemons[0]!.openTarget(named(name), CREATED, DAY)
    for (let round = 0; round < 8; round++) {
      const claimed = await Promise.all(
        daemons.map(async ({ cluster }, i) => {
          const mine: string[] = []
          // The first of them come and go meanwhile.
          if (i === 0 && round % 2 === 0) await cluster.leave()
          if (i === 0 && round % 2 === 1) await cluster.join('daemon 0', '{}', {})
          for (let tries = 0; tries < 6; tries++) mine.push(...(await cluster.acquire(all, 5)))
          return mine
        }),
      )
      const given = claimed.flat()
      expect(new Set(given).size).toBe(given.length)
      const { owners, members } = (await daemons[1]!.cluster.renew('{}'))!
      const ids = new Map(members.map(({ id, name }) => [name, id]))
      for (const [i, mine] of claimed.entries()) {
        for (const name of mine) expect(owners.get(name)).toBe(ids.get(`daemon ${i}`))
      }
      await Promise.all(daemons.map(({ cluster }) => cluster.release(all)))
    }
  })

  test('cannot join again once a newer version has migrated the store', async () => {
    const url = await postgres.newDatabase()
    const { cluster } = await joined(url, 'halted')
    const connection = await connect(url)
    onTestFinished(connection.close)
    // As a migration leaves it.
    await connection.run('DELETE FROM callwatch.members; UPDATE callwatch.schema_version SET version = version + 1')
    expect(await cluster.renew('{}')).toBeUndefined()
    const newer = { kind: 'refused', message: expect.stringContaining('was written by a newer callwatch') }
    await expect(cluster.join('halted', '{}')).rejects.toMatchObject(newer)
    expect(await connection.run('SELECT FROM callwatch.members')).toEqual([])
  })

  test('have a note from the moment at which they join', async () => {
    const url = await newDatabase()
    const first = await joined(url, 'first')
    await joined(url, 'second', { note: '{"takesPart":false}' })
    expect((await first.cluster.renew('{}'))?.members.map(({ status }) => status)).toEqual([
      '{}',
      '{"takesPart":false}',
    ])
  })

  test('must agree in their settings: one that does not is refused, with what differs', async () => {
    const url = await newDatabase()
    await joined(url, 'first', { settings: { 'poll.lookback': '3d', baseline: 'skip' } })
    const second = await openShared(url)
    await expect(
      second.cluster.join('second', '{}', { 'poll.lookback': '1d', baseline: 'skip' }),
    ).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        "this daemon's configuration is not that of first, which uses the same store: poll.lookback is 1d here and " +
        '3d there; give all daemons on it the same configuration, or stop the others first (one that died counts until ' +
        'its lease has ended)',
    })
    await second.cluster.join('second', '{}', { 'poll.lookback': '3d', baseline: 'skip' })
    expect((await second.cluster.renew('{}'))?.members).toHaveLength(2)
  })

  test('need no MD5, which servers in FIPS mode refuse', async () => {
    const url = await newDatabase()
    const settings = { notify: 'zürich' }
    const [first] = [await joined(url, 'first', { settings }), await joined(url, 'second', { settings })]
    const connection = await connect(url)
    const rename = (from: string, to: string) =>
      connection.run(`ALTER FUNCTION pg_catalog.${from}(text) RENAME TO ${to}`)
    await rename('md5', 'refused')
    onTestFinished(async () => {
      await rename('refused', 'md5')
      await connection.close()
    })
    expect(await first.cluster.renew('{}')).toMatchObject({ differing: undefined, members: [{}, {}] })
  })

  test('leave what receivers were told as it is where they are refused, and forget it of others where they join', async () => {
    const url = await newDatabase()
    const first = await joined(url, 'first', { settings: { notify: 'slack' }, receivers: ['slack', 'webhook'] })
    await first.writeNotified({ rows: [told('slack'), told('webhook')] })
    const second = await openShared(url, { receivers: ['webhook'] })
    await expect(second.cluster.join('second', '{}', { notify: 'other' })).rejects.toMatchObject({
      kind: 'unavailable',
    })
    expect(await toldIn(first)).toEqual(['slack', 'webhook'])
    await second.cluster.join('second', '{}', { notify: 'slack' })
    expect(await toldIn(first)).toEqual(['webhook'])
  })

  test('write what receivers were told while they are the first of all, and only then', async () => {
    const url = await newDatabase()
    const [first, second] = [await joined(url, 'first'), await joined(url, 'second')]
    const refused = { kind: 'stale', message: expect.stringMatching(/^this daemon is not the leader/) }
    await first.writeNotified({ rows: [told('slack')] })
    const state = { added: CREATED, cursor: CREATED, reports: {}, setUps: {} }
    for (const change of [
      {},
      { rows: [told('webhook')] },
      { remove: ['slack'] },
      { receiver: { name: 'slack', state } },
    ])
      await expect(second.writeNotified(change)).rejects.toMatchObject(refused)
    expect(await toldIn(second)).toEqual(['slack'])
    expect((await second.notified()).receivers).toEqual(new Map())
    await first.cluster.leave()
    await expect(first.writeNotified({ remove: ['slack'] })).rejects.toMatchObject(refused)
    expect(await toldIn(first)).toEqual(['slack'])
    await second.writeNotified({ remove: ['slack'] })
    expect(await toldIn(first)).toEqual([])
  })

  test('use other settings once the others have left, or one has reloaded them', async () => {
    const url = await newDatabase()
    const first = await joined(url, 'first', { settings: { lookback: '3d' } })
    await first.cluster.leave()
    await first.cluster.join('first', '{}', { lookback: '1d' })
    const second = await joined(url, 'second', { settings: { lookback: '1d' } })
    await second.cluster.declare({ lookback: '2d', other: 'x' })
    expect((await first.cluster.renew('{}'))?.differing?.message).toContain(
      'not that of second, which uses the same store: lookback is 1d here and 2d there;',
    )
    expect((await second.cluster.renew('{}'))?.differing).toBeUndefined()
    await first.cluster.declare({ lookback: '2d', other: 'x' })
    expect((await first.cluster.renew('{}'))?.differing).toBeUndefined()
  })

  test('declare settings that were reloaded while they joined again, or while they were no member', async () => {
    const url = await newDatabase()
    const first = await joined(url, 'first', { settings: { lookback: '3d' } })
    const joining = first.cluster.join('first', '{}')
    await first.cluster.declare({ lookback: '2d' })
    await joining
    await first.cluster.renew('{}')
    const second = await joined(url, 'second', { settings: { lookback: '2d' } })
    await second.cluster.leave()
    await first.cluster.leave()
    await first.cluster.declare({ lookback: '1d' })
    await first.cluster.join('first', '{}')
    await second.cluster.join('second', '{}', { lookback: '1d' })
    expect((await first.cluster.renew('{}'))?.differing).toBeUndefined()
  })

  test('use no settings that no living member uses', async () => {
    const url = await newDatabase()
    const old = { settings: { lookback: '3d' } }
    const [first, second] = [await joined(url, 'first', old), await joined(url, 'second', old)]
    await second.cluster.declare({ lookback: '1d' })
    expect((await first.cluster.renew('{}'))?.differing?.message).toContain('not that of second')
    await endLease(url, 'second')
    await first.cluster.renew('{}')
    expect((await first.cluster.renew('{}'))?.differing).toBeUndefined()
    await joined(url, 'third', old)
    await expect(second.cluster.join('second', '{}', { lookback: '1d' })).rejects.toThrow('is not that of third')
  })

  test('acquire nothing if another one deletes them at the same moment', async () => {
    const url = await newDatabase()
    const { store } = await owner(url, 'first')
    await store.cluster.release(['a'])
    const deleting = await connect(url)
    onTestFinished(deleting.close)
    await deleting.run('BEGIN; DELETE FROM callwatch.members')
    const acquired = store.cluster.acquire(['a'], 1)
    await untilLocked(store)
    await deleting.run('COMMIT')
    expect(await acquired).toEqual([])
  })

  test('may not reset a target that another one acquires at the same moment', async () => {
    const url = await newDatabase()
    const first = await owner(url, 'first')
    const second = await joined(url, 'second')
    await first.store.cluster.release(['a'])
    // As `acquire` does, which has not ended yet.
    const acquiring = await connect(url)
    onTestFinished(acquiring.close)
    await acquiring.run('BEGIN')
    await acquiring.run("UPDATE callwatch.targets SET owner = (SELECT id FROM callwatch.members WHERE name = 'first')")
    const reset = second.resetTarget('a', []).catch((error: unknown) => error)
    await untilLocked(first.store)
    await acquiring.run('COMMIT')
    expect(await reset).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is owned by the daemon first'),
    })
  })

  test('may not reset a target that another one owns, and may where no living one does', async () => {
    const url = await newDatabase()
    const first = await owner(url, 'first')
    const second = await joined(url, 'second')
    await first.sees('call')
    await expect(second.resetTarget('a', [])).rejects.toMatchObject({
      kind: 'refused',
      message:
        'target a is owned by the daemon first; stop all daemons on this database, then start one with ' +
        '--reset-target a (one that died counts until its lease has ended)',
    })
    expect((await replicaOf(second)).ledger.sync.seq).toBe(1)
    await endLease(url, 'first')
    await second.resetTarget('a', [])
    const { ledger: again } = await second.openTarget({ name: 'a', fingerprint: 'new' }, CREATED, DAY)
    expect([again.sync.seq, again.calls.size]).toEqual([0, 0])
    await expect(first.commit(first.next('late'))).rejects.toMatchObject({ kind: 'stale' })
  })

  test('close the alerts of a removed target once, whichever of them do so', async () => {
    const url = await newDatabase()
    const { store, next, commit } = await owner(url, 'first')
    const daemons = [store, await joined(url, 'second'), await joined(url, 'third')]
    await commit({ ...next('call'), alerts: FIRING })
    await Promise.all(daemons.map((daemon) => daemon.expireAlerts('a', closed('target removed'))))
    expect(await episodesIn(store)).toEqual(['NoGoodPoll target removed'])
  })

  test('close the alerts of a removed target for good: its owner, which does not know of that yet, commits none again', async () => {
    const url = await newDatabase()
    const { store, next, commit } = await owner(url)
    const other = await joined(url, 'other')
    await commit({ ...next('call'), alerts: FIRING })
    await other.expireAlerts('a', closed('target removed'))
    await expect(commit({ ...next('call'), alerts: FIRING })).rejects.toMatchObject({ kind: 'stale' })
    expect(await other.strayTargets([])).toEqual([{ target: 'a', alerts: [] }])
    // A daemon that still has them in memory must open the target again.
    expect((await replicaOf(store)).ledger.sync.seq).toBe(2)
    expect((await store.cluster.renew('{}'))?.owners.size).toBe(0)
  })

  test('end the open calls of a removed target once, until one of them acquires it again', async () => {
    const url = await newDatabase()
    const { store, sees } = await owner(url)
    const other = await joined(url, 'other')
    await sees('call')
    const shown = async () =>
      (await store.rows('SELECT finished, removed FROM callwatch.targets, callwatch.calls', []))[0]
    for (const daemon of [store, other]) await daemon.expireAlerts('a', [], undefined, CREATED + 60)
    await other.expireAlerts('a', [], undefined, CREATED + 90)
    expect(await shown()).toEqual({ finished: CREATED + 60, removed: CREATED + 60 })
    // One that has not read the new configuration yet.
    expect(await store.cluster.acquire(['a'], 1)).toEqual(['a'])
    await replicaOf(store)
    expect(await shown()).toEqual({ finished: null, removed: null })
  })

  test('end no alert in a reset that is refused', async () => {
    const url = await newDatabase()
    const { next, commit } = await owner(url)
    const other = await joined(url, 'other')
    await commit({ ...next('call'), alerts: FIRING })
    await expect(other.resetTarget('a', closed('target reset'))).rejects.toMatchObject({ kind: 'refused' })
    expect(await other.strayTargets([])).toHaveLength(1)
    expect(await episodesIn(other)).toEqual(['NoGoodPoll'])
  })
})
