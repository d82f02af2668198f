import { describe, expect, test } from 'vitest'
import { CREATED } from '../../ledger/seen.ts'
import type { NewPlace } from './place.ts'

/** What a store promises of silences and of requests that are held back. */
export function noticeContract(newPlace: NewPlace): void {
  describe('a silence', () => {
    const silence = { match: { alert: 'NoGoodPoll' }, since: CREATED, until: CREATED + 60, reason: 'maintenance' }

    test('holds until it ends by itself', async () => {
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

  test('a hold of requests outlives a restart', async () => {
    const place = await newPlace()
    const store = await place.open()
    expect(await store.heldUntil('key')).toBeUndefined()
    await store.hold('key', CREATED + 60)
    await store.hold('key', CREATED + 90)
    await store.close()
    expect(await (await place.open()).heldUntil('key')).toBe(CREATED + 90)
  })

  test('a hold of requests is not made shorter by another one that ends before', async () => {
    const store = await (await newPlace()).open()
    await store.hold('key', CREATED + 300)
    await store.hold('key', CREATED + 10)
    expect(await store.heldUntil('key')).toBe(CREATED + 300)
  })
}
