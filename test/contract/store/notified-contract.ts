import { describe, expect, test } from 'vitest'
import type { EpisodeNote } from '../../../src/alerts/episode.ts'
import type { NotifiedRow, ReceiverState, Store } from '../../../src/store/store.ts'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { notification, openAt, type NewPlace } from '../../kit/store/place.ts'

const row = (id: string, receiver = 'slack', differing: Partial<NotifiedRow> = {}): NotifiedRow => {
  return { id, receiver, accepted: false, data: `{"é\\u2028":"${id}"}`, ...differing }
}
const state = (at: number): ReceiverState => ({ added: at, cursor: at + 1, reports: { day: at }, setUps: { a: at } })
const note: EpisodeNote = { target: 'a', key: notification.key, since: CREATED, lines: '{"receiver":"slack"}\n' }

/** What a store promises of what receivers were told. */
export function notifiedContract(newPlace: NewPlace): void {
  describe('what receivers were told', () => {
    const rowsIn = async (store: Store) => (await store.notified()).rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const receiversIn = async (store: Store) => Object.fromEntries((await store.notified()).receivers)
    const notesIn = async ({ rows }: Store) =>
      (await rows('SELECT notes FROM callwatch.alert_episodes', [])).map(({ notes }) => notes)

    /** A store in which an alert fires, and two receivers were told something. */
    async function told() {
      const target = await openAt(newPlace)
      await target.see(completePoll(1), { changes: [notification] })
      for (const name of ['slack', 'webhook'])
        await target.store.writeNotified({ rows: [row(`of ${name}`, name)], receiver: { name, state: state(1) } })
      return target
    }
    const BOTH = {
      rows: [row('of slack'), row('of webhook', 'webhook')],
      receivers: { slack: state(1), webhook: state(1) },
    }
    const all = async (store: Store) => ({ rows: await rowsIn(store), receivers: await receiversIn(store) })

    test('is as it was written, also after a restart', async () => {
      const { store, restart } = await told()
      expect(await all(store)).toEqual(BOTH)
      expect(await all((await restart()).store)).toEqual(BOTH)
    })

    test('is replaced by its id, whoever was told, and removed by it', async () => {
      const { store } = await told()
      const next = row('of slack', 'webhook', { accepted: true, data: '{}' })
      await store.writeNotified({ rows: [next, row('new')], remove: ['of webhook', 'unknown'] })
      expect(await rowsIn(store)).toEqual([row('new'), next])
      await store.writeNotified({ remove: ['of slack', 'new'] })
      expect(await rowsIn(store)).toEqual([])
    })

    test('is written again under an id that the same change removes', async () => {
      const { store } = await told()
      await store.writeNotified({ remove: ['of slack'], rows: [row('of slack', 'slack', { accepted: true })] })
      expect(await rowsIn(store)).toMatchObject([{ id: 'of slack', accepted: true }, {}])
    })

    test('leaves what is known of a receiver as it is, unless that is written, too', async () => {
      const { store } = await told()
      await store.writeNotified({ rows: [row('new')] })
      expect(await receiversIn(store)).toEqual(BOTH.receivers)
      await store.writeNotified({ receiver: { name: 'webhook', state: state(2) } })
      expect(await receiversIn(store)).toEqual({ ...BOTH.receivers, webhook: state(2) })
    })

    test('is noted in the history of the alerts, note after note', async () => {
      const { store } = await told()
      await store.writeNotified({ notes: [note, { ...note, lines: '2\n' }] })
      await store.noteEpisodes([{ ...note, lines: '3\n' }, { ...note, target: 'unknown' }]) // oxfmt-ignore
      expect(await notesIn(store)).toEqual([`${note.lines}2\n3\n`])
      expect(await all(store)).toEqual(BOTH)
    })

    test.each([
      ['a row', { rows: [row('new'), row('broken', 'slack', { data: JSON.parse('null') })] }],
      ['a note', { rows: [row('new')], notes: [note, { ...note, lines: JSON.parse('null') }] }],
    ])('is written all or nothing: %s is refused', async (_what, broken) => {
      const { store } = await told()
      const whole = { notes: [note], remove: ['of slack'], receiver: { name: 'slack', state: state(2) }, ...broken }
      await expect(store.writeNotified(whole)).rejects.toThrow()
      expect(await all(store)).toEqual(BOTH)
      expect(await notesIn(store)).toEqual([''])
    })

    test('is forgotten of receivers that are not configured any more, after a reload or a restart', async () => {
      const { store, place } = await told()
      await store.setReceivers(['pager', 'slack', 'webhook'])
      expect(await all(store)).toEqual(BOTH)
      const ofWebhook = { rows: BOTH.rows.slice(1), receivers: { webhook: state(1) } }
      await store.setReceivers(['webhook'])
      expect(await all(store)).toEqual(ofWebhook)
      await store.close()
      const asBefore = await place.open(['webhook'])
      expect(await all(asBefore)).toEqual(ofWebhook)
      await asBefore.close()
      const without = await place.open([])
      expect(await all(without)).toEqual({ rows: [], receivers: {} })
    })

    test('is kept of a receiver that is configured where the store is opened by something that is no daemon', async () => {
      const { store, place } = await told()
      await store.close()
      expect(await all(await place.open())).toEqual(BOTH)
    })
  })
}
