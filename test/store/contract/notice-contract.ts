import { describe, expect, test } from 'vitest'
import { CREATED } from '../../ledger/seen.ts'
import { openAt, type NewPlace } from './place.ts'

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
      expect(await store.endSilence(id)).toBe(true)
      expect(await store.endSilence(id)).toBe(false)
      expect(await store.silences(CREATED)).toEqual([])
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
}
