import { describe, expect, test } from 'vitest'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, openAt, openIn, B, type NewPlace, type OpenTarget } from '../../kit/store/place.ts'

/** What a store promises of the log of events. @param expired commits that expire together: more than are deleted at once */
export function eventsContract(newPlace: NewPlace, expired = 2100): void {
  /** Commits so many events, found `at` seconds after the set-up; each names the commit and its own place in it. */
  async function append({ see, ledger }: OpenTarget, id: string, { n = 1, at = 0 } = {}): Promise<void> {
    const texts = Array.from({ length: n }, (_, i) => JSON.stringify({ of: `${id}\n`, i }))
    await see(completePoll(ledger.sync.seq + 1), { events: { id, at: CREATED + at, texts } })
  }
  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

  describe('the log of events', () => {
    test('has those of each commit in its order, whichever target it is of, also after a restart', async () => {
      const a = await openAt(newPlace)
      const b = await openIn(a.store, B)
      await append(a, 'first', { n: 2, at: 0.25 })
      await append(b, 'second')
      await a.see(completePoll(9, seen('c', 'ongoing')))
      await append(a, 'third')
      const rows = await a.store.events(1, 100)
      expect(rows).toMatchObject([
        { id: 'first', target: 'a', at: CREATED + 0.25 },
        { id: 'second', target: 'b' },
        { id: 'third', target: 'a' },
      ])
      expect(rows[0]!.texts.map((text) => JSON.parse(text))).toEqual([0, 1].map((i) => ({ of: 'first\n', i })))
      const positions = rows.map(({ position }) => position)
      expect(positions[0]).toBe(1)
      expect(positions).toEqual(positions.toSorted((one, other) => one - other))
      expect(await a.store.events(positions[1]!, 100)).toEqual(rows.slice(1))
      expect(await a.store.events(positions[2]! + 1, 100)).toEqual([])
      const again = await a.restart()
      expect(await again.store.events(1, 100)).toEqual(rows)
      expect(await (await a.place.reader()).events(1, 100)).toEqual(rows)
    })

    test('is read in parts, from its beginning or at its end: whole commits, one at least', async () => {
      const a = await openAt(newPlace)
      for (const n of [3, 1, 2, 1]) await append(a, `with ${n}`, { n })
      const parts = await Promise.all([0, 3, 4, 5, 6].map((most) => a.store.events(1, most)))
      expect(parts.map(({ length }) => length)).toEqual([1, 1, 2, 2, 3])
      const latest = await Promise.all([0, 1, 2, 3, 4, 100].map((most) => a.store.latestEvents(most)))
      expect(latest.map(({ length }) => length)).toEqual([1, 1, 1, 2, 3, 4])
      expect(idsOf(latest[3]!)).toEqual(['with 2', 'with 1'])
    })

    test('has nothing of a commit that failed', async () => {
      const { store, deltaOf } = await openAt(newPlace)
      const delta = deltaOf(completePoll(1))
      const events = { id: 'x', at: CREATED, texts: ['{}'] }
      const broken = { ...delta, counters: new Map([['a series', Number.NaN]]) }
      await expect(store.commit('a', commitOf(broken, { events }))).rejects.toMatchObject({ kind: 'unavailable' })
      const late = { ...delta, sync: { ...delta.sync, seq: 7 } }
      await expect(store.commit('a', commitOf(late, { events }))).rejects.toMatchObject({ kind: 'stale' })
      expect([await store.events(1, 10), await store.latestEvents(10)]).toEqual([[], []])
    })

    test('keeps its newest expired commit, and all that are younger; no position is given twice', async () => {
      const a = await openAt(newPlace)
      for (const at of [1, 2, 3, 9]) await append(a, `at ${at}`, { at })
      await a.store.deleteEvents(CREATED + 1)
      expect(await a.store.events(1, 100)).toHaveLength(4)
      await a.store.deleteEvents(CREATED + 4)
      const left = await a.store.events(1, 100)
      expect(idsOf(left)).toEqual(['at 3', 'at 9'])
      await a.store.deleteEvents(CREATED + 100)
      expect(idsOf(await a.store.events(1, 100))).toEqual(['at 9'])
      await append(a, 'new', { at: 200 })
      const [, next] = await a.store.events(1, 100)
      expect(next!.position).toBeGreaterThan(left[1]!.position)
    })

    test('keeps nothing for an event that is dated ahead by a wrong clock', async () => {
      const a = await openAt(newPlace)
      for (const at of [900, 1, 2, 3, 9]) await append(a, `at ${at}`, { at })
      await a.store.deleteEvents(CREATED + 5)
      expect(await a.store.events(1, 100)).toHaveLength(5)
      await a.store.deleteEvents(CREATED + 5, undefined, CREATED + 100)
      expect(idsOf(await a.store.events(1, 100))).toEqual(['at 3', 'at 9'])
    })

    test('keeps what is still needed from a position on', async () => {
      const a = await openAt(newPlace)
      for (const at of [1, 2, 3, 4, 9]) await append(a, `at ${at}`, { at })
      const [, , third] = await a.store.events(1, 100)
      await a.store.deleteEvents(CREATED + 5, third!.position)
      expect(idsOf(await a.store.events(1, 100))).toEqual(['at 2', 'at 3', 'at 4', 'at 9'])
    })

    test('counts how many events it has had, also of those that are deleted', async () => {
      const a = await openAt(newPlace)
      const totals = async () => (await a.store.events(1, 100)).map(({ total }) => total)
      for (const n of [3, 1]) await append(a, `with ${n}`, { n })
      expect(await totals()).toEqual([3, 4])
      await append(a, 'with 5', { n: 5, at: 100 })
      await a.store.deleteEvents(CREATED + 50)
      expect(await totals()).toEqual([4, 9])
      expect(await a.store.latestEvents(0)).toMatchObject([{ total: 9 }])
    })

    test('shows in the size of the store', async () => {
      const a = await openAt(newPlace)
      const before = await a.store.size()
      expect(before).toBeGreaterThan(10_000)
      await append(a, 'many', { n: 100_000 })
      expect(await a.store.size()).toBeGreaterThan(before + 200_000)
    })

    test('is deleted from its beginning only, whatever the clocks of the daemons were', async () => {
      const a = await openAt(newPlace)
      for (const at of [100, 1, 2, 3, 200]) await append(a, `at ${at}`, { at })
      await a.store.deleteEvents(CREATED + 50)
      expect(await a.store.events(1, 100)).toHaveLength(5)
      await a.store.deleteEvents(CREATED + 150)
      expect(idsOf(await a.store.events(1, 100))).toEqual(['at 3', 'at 200'])
    })

    test('is deleted however much of it is expired', async () => {
      const a = await openAt(newPlace)
      for (let i = 0; i < expired; i++) await append(a, `${i}`)
      await a.store.deleteEvents(CREATED + 50)
      expect(idsOf(await a.store.events(1, 100))).toEqual([`${expired - 1}`])
    })

    test('stays as it is when a target is reset', async () => {
      const a = await openAt(newPlace)
      await append(a, 'before')
      await a.store.resetTarget('a', [])
      await append(await openIn(a.store), 'after')
      expect(idsOf(await a.store.events(1, 100))).toEqual(['before', 'after'])
    })
  })
}
