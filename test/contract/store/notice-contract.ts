import { describe, expect, test } from 'vitest'
import { silenceAt } from '../../../src/alerts/match.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { openAt, type NewPlace } from '../../kit/store/place.ts'

/** What a store promises of silences and rate limit pauses. */
export function noticeContract(newPlace: NewPlace): void {
  describe('a silence', () => {
    const silence = { match: { alert: 'NoGoodPoll' }, since: CREATED, until: CREATED + 60, reason: 'maintenance' }

    test('is active until it ends by itself', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence(silence)
      expect(await store.silences(CREATED + 59)).toEqual([{ id, ...silence }])
      expect(await store.silences(CREATED + 60)).toEqual([])
    })

    test('can be ended at once, once', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence(silence)
      expect(await store.expireSilence(id, CREATED + 10)).toBe(true)
      expect(await store.expireSilence(id, CREATED + 20)).toBe(false)
      expect(await store.silences(CREATED + 10)).toEqual([])
    })

    test('that has ended is kept with its end until it expires', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence(silence)
      await store.expireSilence(id, CREATED + 10)
      await store.addSilence({ ...silence, since: CREATED + 100, until: CREATED + 200 })
      await store.deleteExpired(CREATED + 10)
      expect((await store.silences(CREATED))[0]).toEqual({ ...silence, id, until: CREATED + 10 })
      await store.deleteExpired(CREATED + 11)
      expect(await store.silences(0)).toMatchObject([{ since: CREATED + 100 }])
    })

    test('is edited while it is active, and not over the edit of somebody else', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence({ ...silence, author: 'ops', reason: 'a\u0000b' })
      const changes = { until: CREATED + 30, match: { alert: '=~No.*' } }
      const edited = { ...silence, ...changes, id, author: 'ops', reason: 'a\u0000b', edits: 1 }
      expect(await store.editSilence(id, changes, CREATED + 5, 0)).toMatchObject(edited)
      expect(await store.editSilence(id, { until: CREATED + 90 }, CREATED + 5, 0)).toBe('changed')
      expect(await store.silences(CREATED + 29)).toMatchObject([edited])
      expect(await store.editSilence(id, { until: CREATED + 90 }, CREATED + 30)).toBeUndefined()
      expect(await store.silences(CREATED + 30)).toEqual([])
      expect(await store.editSilence(id + 1, changes, CREATED)).toBeUndefined()
    })

    test('keeps what it matched before it was edited, whatever is edited afterwards', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence(silence)
      await store.editSilence(id, { match: { alert: 'Other' } }, CREATED + 5)
      await store.editSilence(id, { reason: 'still' }, CREATED + 10)
      await store.editSilence(id, { match: {} }, CREATED + 20)
      const [found] = await store.silences(CREATED + 30)
      const matched = [0, 4, 5, 19, 20, 59, 60].map((second) => silenceAt(found!, CREATED + second)?.match.alert ?? '')
      expect(matched).toEqual(['NoGoodPoll', 'NoGoodPoll', 'Other', 'Other', '', '', ''])
    })

    test('is edited by one of two at the same time', async () => {
      const store = await (await newPlace()).open()
      const { id } = await store.addSilence(silence)
      const edits = ['one', 'other'].map((reason) => store.editSilence(id, { reason }, CREATED, 0))
      expect(await Promise.all(edits)).toEqual(
        expect.arrayContaining([expect.objectContaining({ edits: 1 }), 'changed']),
      )
    })
  })

  test('a rate limit pause outlives a restart', async () => {
    const { store, restart } = await openAt(newPlace)
    expect(await store.pausedUntil('key')).toBeUndefined()
    await store.pauseUntil('key', CREATED + 60)
    await store.pauseUntil('key', CREATED + 90)
    expect(await (await restart()).store.pausedUntil('key')).toBe(CREATED + 90)
  })

  test('a rate limit pause is not made shorter by another one that ends before', async () => {
    const store = await (await newPlace()).open()
    await store.pauseUntil('key', CREATED + 300)
    await store.pauseUntil('key', CREATED + 10)
    expect(await store.pausedUntil('key')).toBe(CREATED + 300)
  })

  test('a rate limit pause of hours, which a wrong clock wrote, is deleted', async () => {
    const store = await (await newPlace()).open()
    const now = Date.now() / 1000
    await store.pauseUntil('of a wrong clock', now + 8 * 3600)
    await store.pauseUntil('key', now + 3600)
    await store.deleteExpired(CREATED)
    expect(await store.pausedUntil('of a wrong clock')).toBeUndefined()
    expect(await store.pausedUntil('key')).toBe(now + 3600)
  })
}
