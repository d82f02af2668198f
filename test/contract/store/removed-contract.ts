import { describe, expect, test } from 'vitest'
import { listCalls, oneCall } from '../../../src/history/list-calls.ts'
import { seriesOf } from '../../kit/history/as-shown.ts'
import { updateRollups, type RollupPosition } from '../../../src/history/rollups.ts'
import { usageOf } from '../../kit/history/as-shown.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { newLedger } from '../../../src/ledger/state.ts'
import type { Store } from '../../../src/store/store.ts'
import { asked, completePoll, contents, CREATED, seen, total } from '../../kit/ledger/seen.ts'
import { rollupProblems } from '../../kit/store/rollup-problems.ts'
import {
  A,
  B,
  episodesIn,
  instance,
  NO_ALERTS,
  notification,
  openAt,
  openIn,
  type NewPlace,
} from '../../kit/store/place.ts'

const HOUR = 3600
const LATER = CREATED + 10 * HOUR
/** By how much the service's clock is ahead of the host's (seconds). */
const SKEW = 50
/** By the service's clock. */
const REMOVED = CREATED + 3 * HOUR
const remove = (store: Store) => store.expireAlerts('a', [], undefined, REMOVED - SKEW)

/** What the history shows of target A: its calls, how many were lost and ended, and how many were in progress an hour later. */
async function shownOf(store: Store) {
  const whole = { since: CREATED, until: LATER }
  const { calls } = await listCalls(store, whole, { limit: 10 })
  const one = await oneCall(store, 'a', 'open')
  const period = { from: CREATED - HOUR, to: LATER, targets: ['a'] }
  const [usage] = await usageOf(store, { ...period, zone: 'UTC', by: [] })
  const { points } = await seriesOf(store, { ...period, step: HOUR }, LATER)
  const progress = points.find(({ at }) => Date.parse(at) / 1000 >= REMOVED + HOUR / 2)?.in_progress
  return {
    listed: calls.map(({ call, finished }) => [call.id, call.phase, finished - CREATED]),
    one: one?.phase,
    usage: [usage!.calls.lost, usage!.calls.ended],
    progress,
  }
}

/** What a store promises of targets that were removed from the configuration. */
export function removedContract(newPlace: NewPlace): void {
  async function withCalls() {
    const target = await openAt(newPlace)
    await target.see({ ...completePoll(60), clockSkew: SKEW })
    const calls = [
      seen('open', 'ongoing', { initiatedAt: CREATED + 70, startedAt: CREATED + 75 }),
      seen('ended', 'ended', { initiatedAt: CREATED + 70, endedAt: CREATED + 80 }),
      seen('over', 'ended', { endedAt: CREATED - 10 }),
    ]
    await target.see(completePoll(100, ...calls))
    const { see } = await openIn(target.store, B)
    await see(completePoll(100, seen('other', 'ongoing', { initiatedAt: CREATED + 70 })))
    return target
  }
  async function updateAll(store: Store) {
    let after: RollupPosition | undefined
    do after = await updateRollups(store, LATER + HOUR, after)
    while (after !== undefined)
    expect(await rollupProblems(store, ['a', 'b'])).toEqual([])
  }
  const inProgress = { listed: [['ended', 'final', 80]], one: 'open', usage: [0, 1], progress: 1 }
  const lost = {
    listed: [
      ['open', 'lost', 3 * HOUR],
      ['ended', 'final', 80],
    ],
    one: 'lost',
    usage: [1, 1],
    progress: 0,
  }

  describe('a target that was removed', () => {
    test('has no calls in progress any more: in the history they are lost from then on', async () => {
      const { store, place } = await withCalls()
      await updateAll(store)
      expect(await shownOf(store)).toEqual(inProgress)
      await remove(store)
      expect(await shownOf(store)).toEqual(lost)
      await updateAll(store)
      expect(await shownOf(store)).toEqual(lost)
      const rows = (await place.callHistory()).map(({ target, status, finished, noticed }) => [
        target,
        status,
        finished,
        noticed,
      ])
      expect(rows).toEqual([
        ['a', 'ended', CREATED + 80, CREATED + 100],
        ['a', 'lost', REMOVED, REMOVED],
        ['b', 'ongoing', null, null],
      ])
      expect((await store.openCalls(['a', 'b'])).map(({ target }) => target)).toEqual(['b'])
    })

    test('is removed with the end of each alert that fires, also of one that its owner committed meanwhile', async () => {
      const { store, see } = await withCalls()
      await see(completePoll(200), { alerts: { ...NO_ALERTS, changed: [instance] }, changes: [notification] })
      await expect(remove(store)).rejects.toMatchObject({ kind: 'stale' })
      expect((await store.strayTargets(['b']))[0]?.alerts).toHaveLength(1)
      expect(await episodesIn(store)).toEqual(['NoGoodPoll'])
      await store.expireAlerts('a', [{ ...notification, kind: 'expired' }], undefined, REMOVED)
      expect(await episodesIn(store)).toEqual(['NoGoodPoll expired'])
      expect((await store.strayTargets(['b']))[0]?.alerts ?? []).toEqual([])
    })

    test('is found while alerts of it are left, or it is not marked as removed', async () => {
      const { store, see } = await withCalls()
      await see(completePoll(200), { alerts: { ...NO_ALERTS, changed: [instance] }, changes: [notification] })
      expect(await store.strayTargets(['a', 'b'])).toEqual([])
      expect(await store.strayTargets(['b'])).toMatchObject([{ target: 'a', alerts: [{ key: 'NoGoodPoll' }] }])
      await store.expireAlerts('a', [{ ...notification, kind: 'expired', expiredBecause: 'target removed' }])
      expect(await store.strayTargets(['b'])).toEqual([{ target: 'a', alerts: [] }])
      await remove(store)
      expect(await store.strayTargets(['b'])).toEqual([])
    })

    test('is not found once it was reset, which ends its alerts, too', async () => {
      const { store, see } = await withCalls()
      await see(completePoll(200), { alerts: { ...NO_ALERTS, changed: [instance] }, changes: [notification] })
      await store.resetTarget('a', [{ ...notification, kind: 'expired', expiredBecause: 'target reset' }])
      expect(await store.strayTargets(['b'])).toEqual([])
      expect(await episodesIn(store)).toEqual(['NoGoodPoll target reset'])
    })

    test('stays so where another one asks for its name, which is refused', async () => {
      const { store } = await withCalls()
      await remove(store)
      await expect(store.openTarget({ ...A, fingerprint: 'another' }, LATER, HOUR)).rejects.toMatchObject({
        kind: 'refused',
      })
      expect(await shownOf(store)).toEqual(lost)
    })

    test('continues if it is added again as if it had never been removed, and each call counts once', async () => {
      const { store, ledger, restart } = await withCalls()
      const before = contents(ledger)
      await remove(store)
      await updateAll(store)
      const again = await restart()
      const { seq } = again.ledger.sync
      expect(contents(again.ledger)).toEqual({ ...before, sync: { ...before.sync, seq } })
      expect(await shownOf(again.store)).toEqual(inProgress)
      await updateAll(again.store)
      expect(await shownOf(again.store)).toEqual(inProgress)
      // No list shows it any more; Get Call does.
      const end = seen('open', 'ended', {
        initiatedAt: CREATED + 70,
        startedAt: CREATED + 75,
        endedAt: CREATED + 5 * HOUR,
      })
      await again.see({ answers: [asked(CREATED + 6 * HOUR, end)] })
      await updateAll(again.store)
      expect((await shownOf(again.store)).usage).toEqual([0, 2])
      const counted = [COUNTERS.started, COUNTERS.finished, COUNTERS.lost, COUNTERS.reappeared]
      expect(counted.map((each) => total(again.ledger, each))).toEqual([2, 2, 0, 0])
    })

    test('is deleted with all its calls once it was removed for longer than these are kept, and nothing of any other', async () => {
      const { store, place } = await withCalls()
      await remove(store)
      await store.deleteExpired(REMOVED)
      const targets = async () => new Set((await place.callHistory()).map(({ target }) => target))
      expect(await targets()).toEqual(new Set(['a', 'b']))
      await store.deleteExpired(REMOVED + 1)
      expect(await targets()).toEqual(new Set(['b']))
      expect(await store.rows('SELECT 1 AS one FROM callwatch.calls', [])).toHaveLength(1)
      const { ledger } = await store.openTarget(A, LATER, HOUR)
      expect(contents(ledger)).toEqual(contents(newLedger(LATER)))
    })

    test('and was added again is not deleted', async () => {
      const { store, restart } = await withCalls()
      await remove(store)
      const again = await restart()
      await again.store.deleteExpired(LATER)
      expect(total(again.ledger, COUNTERS.started)).toBe(2)
      expect((await openIn(again.store)).ledger.open.size).toBe(1)
      expect((await shownOf(again.store)).progress).toBe(1)
    })
  })
}
