import { describe, expect, test } from 'vitest'
import { callsById, completePoll, contents, CREATED, seen } from '../../kit/ledger/seen.ts'
import { openAt, type NewPlace } from '../../kit/store/place.ts'

/** What a store promises of those that read it beside its daemon. */
export function readerContract(newPlace: NewPlace): void {
  describe('a reader', () => {
    test('sees each commit of the daemon that has the store open, and its rate limit pauses', async () => {
      const { place, store, ledger, see } = await openAt(newPlace)
      const reader = await place.reader()
      expect((await reader.target('a'))?.fingerprint).toBe('x')
      expect(await reader.target('b')).toBeUndefined()
      expect(callsById(await reader.calls('a'))).toEqual(new Map())
      await see(completePoll(10, seen('c1', 'ended', { endedAt: CREATED + 5 }), seen('c2', 'ongoing')))
      expect((await reader.target('a'))?.sync).toEqual(ledger.sync)
      expect(callsById(await reader.calls('a'))).toEqual(contents(ledger).calls)
      expect(await reader.callsOf('a', ['c1', 'c3'])).toEqual(new Map([['c1', [ledger.calls.get('c1')]]]))
      expect(await reader.pausedUntil('k')).toBeUndefined()
      await store.pauseUntil('k', CREATED + 60)
      expect(await reader.pausedUntil('k')).toBe(CREATED + 60)
      await reader.close()
    })

    test('shows no evicted call, but how it finished', async () => {
      const { place, ledger, see } = await openAt(newPlace)
      await see(completePoll(10, seen('c1', 'ended', { endedAt: CREATED + 5 })))
      const { finish } = ledger.calls.get('c1')!
      await see(completePoll(5000))
      await see(completePoll(5000))
      const reader = await place.reader()
      expect(callsById(await reader.calls('a'))).toEqual(new Map())
      expect(await reader.callsOf('a', ['c1'])).toEqual(new Map())
      expect(await reader.finishes('a', CREATED + 5)).toEqual([finish])
      expect(await reader.finishes('a', CREATED + 5.1)).toEqual([])
      await reader.close()
    })

    test('shows the evaluations since a moment, of one target', async () => {
      const { place, see } = await openAt(newPlace)
      const ticks = [1, 3700, 3701].map((seconds) => ({ kind: 'tick', at: CREATED + seconds, pollAge: 42 }) as const)
      for (const evaluated of ticks) await see(completePoll(evaluated.at - CREATED), { evaluated })
      const reader = await place.reader()
      expect(await reader.evaluations('a', 0)).toEqual(ticks)
      expect(await reader.evaluations('a', CREATED + 3700.5)).toEqual(ticks.slice(2))
      expect(await reader.evaluations('b', 0)).toEqual([])
      await reader.close()
    })
  })
}
