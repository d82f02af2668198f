import { describe, expect, test } from 'vitest'
import { newDraft } from '../../../src/ledger/delta-draft.ts'
import { step } from '../../../src/ledger/step.ts'
import type { OutboxEntry, Store } from '../../../src/store/store.ts'
import { completeLook, CREATED } from '../../ledger/seen.ts'
import { A, DAY, instance, NO_ALERTS, notification, OPTIONS, type NewPlace, type Place } from './place.ts'

/** What a store promises of what is to be told, and to whom. */
export function outboxContract(newPlace: NewPlace): void {
  describe('the outbox', () => {
    async function filled(place?: Place) {
      const notifiers = ['slack', 'webhook']
      const store = await (place ?? (await newPlace())).open()
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
      const place = await newPlace()
      const store = await filled(place)
      const [first, second] = await store.outbox('slack')
      await store.claimOutbox([first!.id, second!.id], true)
      await store.claimOutbox([second!.id], false)
      await store.close()
      expect(alertsOf(await (await place.open()).outbox('slack'))).toEqual(['NoGoodPoll claimed', 'Second'])
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
    const BOTH = ['slack', 'webhook']
    const tell = async (opened: Store, kind: 'firing' | 'resolved', to: string[]) => {
      const { ledger } = await opened.openTarget(A, CREATED, DAY)
      const outgoing = [{ change: { ...notification, kind }, to }]
      await opened.commit('a', { ledger: newDraft(ledger.facts).delta, alerts: NO_ALERTS, outgoing })
    }
    const kinds = async (opened: Store, notifier: string) =>
      (await opened.outbox(notifier)).map(({ content }) => content.kind)

    test('goes to whoever was to be told of its beginning, wherever the routes lead by then', async () => {
      const place = await newPlace()
      const before = await place.open(BOTH)
      await tell(before, 'firing', ['slack'])
      await before.close()
      const after = await place.open(BOTH)
      await tell(after, 'resolved', ['webhook'])
      expect([await kinds(after, 'slack'), await kinds(after, 'webhook')]).toEqual([
        ['firing', 'resolved'],
        ['resolved'],
      ])
      await tell(after, 'firing', ['webhook'])
      await tell(after, 'resolved', ['webhook'])
      expect((await kinds(after, 'slack')).length).toBe(2)
    })

    test('goes to nobody who is not there any more, and what waits for him is removed', async () => {
      const place = await newPlace()
      const before = await place.open(BOTH)
      await tell(before, 'firing', ['slack', 'webhook'])
      await before.close()
      const after = await place.open(['webhook'])
      await tell(after, 'resolved', ['webhook'])
      expect([await kinds(after, 'slack'), await kinds(after, 'webhook')]).toEqual([[], ['firing', 'resolved']])
    })
  })

  describe('alerts of a target', () => {
    const [closed, reset] = (['target removed', 'target reset'] as const).map((closedBecause) => ({
      change: { ...notification, kind: 'closed' as const, closedBecause },
      to: ['slack'],
    }))

    async function withAlert(): Promise<Store> {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await store.commit('a', {
        ledger: step(ledger, completeLook(1), OPTIONS)!,
        alerts: { ...NO_ALERTS, changed: [instance] },
        outgoing: [],
      })
      return store
    }

    test('that is watched no more are found, and closed with what is to be said of it', async () => {
      const store = await withAlert()
      expect(await store.strayAlerts(['a'])).toEqual([])
      expect(await store.strayAlerts(['b'])).toMatchObject([{ target: 'a', alerts: [{ key: 'NoGoodPoll' }] }])
      await store.closeAlerts('a', [closed!])
      expect(await store.strayAlerts(['b'])).toEqual([])
      expect((await store.outbox('slack')).map(({ content }) => content)).toEqual([closed!.change])
    })

    test('that is reset are closed with it, and what is to be said of it is put out', async () => {
      const store = await withAlert()
      await store.resetTarget('a', [reset!])
      expect(await store.strayAlerts([])).toEqual([])
      expect((await store.outbox('slack')).map(({ content }) => content)).toEqual([reset!.change])
    })
  })
}
