import { describe, expect, test } from 'vitest'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import type { OutboxEntry, Store } from '../../../src/store/store.ts'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { commitOf, instance, NO_ALERTS, notification, openAt, openIn, type NewPlace } from '../../kit/store/place.ts'

const BOTH = ['slack', 'webhook']

/** What a store promises of messages that wait, and of their recipients. */
export function outboxContract(newPlace: NewPlace): void {
  describe('the outbox', () => {
    async function withTwo() {
      const target = await openAt(newPlace)
      const notifications = [notification, { ...notification, alert: 'Second' }]
      const routedChanges = notifications.map((change) => ({ change, receivers: BOTH }))
      await target.see(completePoll(1), { alerts: { ...NO_ALERTS, notifications }, routedChanges })
      return target
    }
    const alertsOf = (entries: readonly OutboxEntry[]) =>
      entries.map(
        ({ content, claimed }) => `${content.kind === 'digest' ? '' : content.alert}${claimed ? ' claimed' : ''}`,
      )

    test('has each notification once for each receiver, oldest first, until it is removed', async () => {
      const { store } = await withTwo()
      expect(await store.waiting()).toEqual(
        new Map(BOTH.map((receiver) => [receiver, { pending: 2, since: notification.at }])),
      )
      const [first] = await store.outbox('slack')
      expect(first?.content).toEqual(notification)
      await store.removeFromOutbox([first!.id])
      expect(alertsOf(await store.outbox('slack'))).toEqual(['Second'])
      expect(alertsOf(await store.outbox('webhook'))).toEqual(['NoGoodPoll', 'Second'])
      expect(await store.outbox('pager')).toEqual([])
    })

    test('keeps over a restart what was about to be delivered', async () => {
      const { store, restart } = await withTwo()
      const [first, second] = await store.outbox('slack')
      await store.claimOutbox([first!.id, second!.id], true)
      await store.claimOutbox([second!.id], false)
      expect(alertsOf(await (await restart()).store.outbox('slack'))).toEqual(['NoGoodPoll claimed', 'Second'])
    })

    test('takes something under a deduplication key once', async () => {
      const { store } = await withTwo()
      const digest = { kind: 'digest', digest: { day: '2026-11-19' } } as const
      for (const _time of [1, 2]) await store.enqueueOnce(['digest of 2026-11-19'], digest, ['slack'])
      expect((await store.outbox('slack')).map(({ content }) => content).slice(2)).toEqual([digest])
    })
  })

  describe('the end of an alert', () => {
    const notify = async (store: Store, kind: 'firing' | 'reminder' | 'resolved', receivers: string[]) => {
      const { ledger } = await openIn(store)
      const routedChanges = [{ change: { ...notification, kind }, receivers }]
      await store.commit('a', commitOf(newDraft(ledger.sync).delta, { routedChanges }))
    }
    const kinds = (store: Store) =>
      Promise.all(BOTH.map(async (receiver) => (await store.outbox(receiver)).map(({ content }) => content.kind)))

    /** A store that begins with these receivers, after one in which an alert fired for others. */
    async function afterFiring(to: string[], receivers: readonly string[]): Promise<Store> {
      const place = await newPlace()
      const before = await place.open(BOTH)
      await notify(before, 'firing', to)
      await before.close()
      return place.open(receivers)
    }

    test('is enqueued for every recipient of its beginning and for no other, wherever the routes lead by then', async () => {
      const store = await afterFiring(['slack'], BOTH)
      await notify(store, 'resolved', ['webhook'])
      expect(await kinds(store)).toEqual([['firing', 'resolved'], []])
      await notify(store, 'firing', ['webhook'])
      await notify(store, 'resolved', ['slack'])
      expect(await kinds(store)).toEqual([
        ['firing', 'resolved'],
        ['firing', 'resolved'],
      ])
    })

    test('is enqueued for a receiver to which a reminder was the first that it got: for that one it is the beginning', async () => {
      const store = await afterFiring(['slack'], BOTH)
      for (const _time of [1, 2]) await notify(store, 'reminder', BOTH)
      await notify(store, 'resolved', [])
      expect(await kinds(store)).toEqual([
        ['firing', 'reminder', 'reminder', 'resolved'],
        ['firing', 'reminder', 'resolved'],
      ])
    })

    test('is not enqueued for a receiver that is not configured any more, and what waits for that one is removed', async () => {
      const store = await afterFiring(BOTH, ['webhook'])
      await notify(store, 'resolved', ['webhook'])
      expect(await kinds(store)).toEqual([[], ['firing', 'resolved']])
    })

    test('is not enqueued for a receiver that was not configured when it began', async () => {
      const store = await (await newPlace()).open(['slack'])
      await notify(store, 'firing', BOTH)
      await store.setReceivers(BOTH)
      await notify(store, 'resolved', BOTH)
      expect(await kinds(store)).toEqual([['firing', 'resolved'], []])
    })

    test('is enqueued for a receiver that was removed and added again only if it had got the beginning by then', async () => {
      const store = await afterFiring(BOTH, BOTH)
      const [delivered] = await store.outbox('slack')
      await store.removeFromOutbox([delivered!.id])
      await store.setReceivers([])
      await store.setReceivers(BOTH)
      await notify(store, 'resolved', BOTH)
      expect(await kinds(store)).toEqual([['resolved'], []])
    })

    test('is enqueued for a receiver that was removed and added again if it may have got the beginning by then', async () => {
      const store = await afterFiring(['slack'], BOTH)
      const [claimed] = await store.outbox('slack')
      await store.claimOutbox([claimed!.id], true)
      await store.setReceivers([])
      await store.setReceivers(BOTH)
      await notify(store, 'resolved', BOTH)
      expect(await kinds(store)).toEqual([['resolved'], []])
    })
  })

  describe('alerts of a target', () => {
    const [removed, reset] = (['target removed', 'target reset'] as const).map((expiredBecause) => ({
      change: { ...notification, kind: 'expired' as const, expiredBecause },
      receivers: ['slack'],
    }))

    async function withAlert(): Promise<Store> {
      const { store, see } = await openAt(newPlace)
      const routedChanges = [{ change: notification, receivers: ['slack'] }]
      await see(completePoll(1), { alerts: { ...NO_ALERTS, changed: [instance] }, routedChanges })
      return store
    }

    test('that was removed are found, and expire with the notifications of that', async () => {
      const store = await withAlert()
      expect(await store.strayTargets(['a'])).toEqual([])
      expect(await store.strayTargets(['b'])).toMatchObject([{ target: 'a', alerts: [{ key: 'NoGoodPoll' }] }])
      await store.expireAlerts('a', [removed!])
      expect(await store.strayTargets(['b'])).toEqual([{ target: 'a', alerts: [] }])
      await store.expireAlerts('a', [], undefined, CREATED)
      expect(await store.strayTargets(['b'])).toEqual([])
      expect((await store.outbox('slack')).map(({ content }) => content)).toEqual([notification, removed!.change])
    })

    test('that is reset expire with it, and the notifications of that are enqueued', async () => {
      const store = await withAlert()
      await store.resetTarget('a', [reset!])
      expect(await store.strayTargets([])).toEqual([])
      expect((await store.outbox('slack')).map(({ content }) => content)).toEqual([notification, reset!.change])
    })
  })
}
