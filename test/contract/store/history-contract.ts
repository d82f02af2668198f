import { describe, expect, test } from 'vitest'
import { asked, completePoll, contents, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, B, DAY, filled, openAt, openIn, summariesOf, type NewPlace } from '../../kit/store/place.ts'
import { finishedCalls, type FinishedQuery } from '../../kit/store/finished-calls.ts'

/** What a store promises of calls that are over. */
export function historyContract(newPlace: NewPlace): void {
  describe('the history', () => {
    test('is of all targets, the newest call first, tracked or evicted, and no more than are asked for', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { a1: 10, a2: 200.5, a3: 30, same: 5 }, ['a2', 'same'])
      await filled(store, B, { b1: 20, b2: 100, b3: 300, same: 25 }, ['b1'])
      const all = ['b b3 300', 'a a2 200.5', 'b b2 100', 'a a3 30', 'b same 25', 'b b1 20', 'a a1 10', 'a same 5']
      const since = CREATED
      expect(summariesOf(await finishedCalls(store, { since, limit: 8 }))).toEqual(all)
      expect(summariesOf(await finishedCalls(store, { since, limit: 100 }))).toEqual(all)
      for (const limit of [0, 1, 2, 3, 5, 7]) {
        expect(summariesOf(await finishedCalls(store, { since, limit }))).toEqual(all.slice(0, limit))
      }
      expect(summariesOf(await finishedCalls(store, { since: CREATED + 25, limit: 100 }))).toEqual(all.slice(0, 5))
      expect(summariesOf(await finishedCalls(store, { since: CREATED + 25.1, limit: 100 }))).toEqual(all.slice(0, 4))
    })

    test('is read on after any call of it, also among calls that finished at the same moment', async () => {
      const store = await (await newPlace()).open()
      const ended = { x: 10, y: 10, z: 10, 'Y-upper': 10, early: 5, late: 20 }
      await filled(store, A, ended, ['y'])
      await filled(store, B, { ...ended, ö: 10 }, ['z', 'late'])
      const [since, at] = [CREATED, CREATED + 10]
      const all = summariesOf(await finishedCalls(store, { since, limit: 100 }))
      expect(all.slice(0, 4)).toEqual(['a late 20', 'b late 20', 'a Y-upper 10', 'a x 10'])
      for (const limit of [1, 2, 3, 5, 100]) {
        const paged: string[] = []
        let after: FinishedQuery['after']
        for (;;) {
          const page = await finishedCalls(store, { since, limit, after })
          if (page.length === 0) break
          paged.push(...summariesOf(page))
          const { target, call } = page.at(-1)!
          after = { at: call.finish!.at, target, id: call.id }
        }
        expect(paged).toEqual(all)
      }
      // Also after a call that has left the history since.
      const ofB = await finishedCalls(store, { since, limit: 2, target: 'b', after: { at, target: 'a', id: 'gone' } })
      expect(summariesOf(ofB)).toEqual(['b Y-upper 10', 'b x 10'])
    })

    test('is picked by target and by how calls ended, before the newest of these are taken', async () => {
      const { store, see } = await openAt(newPlace)
      const over = (id: string, status: 'ended' | 'rejected', seconds: number) =>
        seen(id, status, { endedAt: CREATED + seconds })
      await see(completePoll(100, over('a1', 'rejected', 10), over('a2', 'ended', 20), over('a3', 'rejected', 30)))
      await filled(store, B, { b1: 40, b2: 50 }, ['b1'])
      const picked = async (query: Pick<FinishedQuery, 'target' | 'status'>, limit = 100) =>
        summariesOf(await finishedCalls(store, { since: CREATED, limit, ...query }))
      expect(await picked({ target: 'a' })).toEqual(['a a3 30', 'a a2 20', 'a a1 10'])
      expect(await picked({ target: 'a' }, 1)).toEqual(['a a3 30'])
      expect(await picked({ status: 'rejected' }, 2)).toEqual(['a a3 30', 'a a1 10'])
      expect(await picked({ status: 'ended' })).toEqual(['b b2 50', 'b b1 40', 'a a2 20'])
      expect(await picked({ status: 'ended', target: 'b' }, 1)).toEqual(['b b2 50'])
      expect(await picked({ status: 'canceled' })).toEqual([])
      expect(await picked({ target: 'c' })).toEqual([])
    })

    test('is counted by minutes from a moment on, for several targets, by the status that was counted', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { early: 9.9, a1: 10, a2: 69.9, a3: 70, a4: 129.9, late: 130 }, ['a2', 'a4'])
      const { see } = await openIn(store, B)
      const over = (status: 'ended' | 'rejected', at: number) => seen('b1', status, { endedAt: CREATED + at })
      await see(completePoll(100, over('rejected', 75), seen('b2', 'canceled', { endedAt: CREATED + 80 })))
      await see(completePoll(101, over('ended', 20)))
      const counts = async (targets: readonly string[], minutes: number) =>
        (await store.finishedPerMinute(targets, CREATED + 10, minutes))
          .map(({ target, minute, status, n }) => `${target} ${minute} ${status} ${n}`)
          .toSorted()
      const ofA = ['a 0 ended 2', 'a 1 ended 2']
      expect(await counts(['a'], 2)).toEqual(ofA)
      expect(await counts(['a', 'b', 'c'], 2)).toEqual([...ofA, 'b 1 canceled 1', 'b 1 rejected 1'])
      expect([await counts(['a'], 1), await counts(['a'], 0), await counts([], 9)]).toEqual([['a 0 ended 2'], [], []])
    })

    test('is added up from the beginning of a period until before its end, by status and labels', async () => {
      const store = await (await newPlace()).open()
      await filled(store, B, { b1: 20 }, [])
      const { see } = await openIn(store, A)
      const over = (id: string, status: 'ended' | 'unanswered', seconds: number, type?: 'video') =>
        seen(id, status, { endedAt: CREATED + seconds, ...(type && { type }) })
      const finished = [over('a1', 'unanswered', 10), over('a2', 'unanswered', 20), over('a3', 'ended', 29.9, 'video')]
      await see(completePoll(100, over('early', 'ended', 9.9), ...finished, over('late', 'ended', 30)))
      const period = { from: CREATED + 10, to: CREATED + 30 }
      const { tallies, ...of } = await store.summedCalls('a', period)
      expect(of).toEqual(period)
      expect(tallies.map(({ status, labels, n }) => `${labels.type} ${status} ${n}`).toSorted()).toEqual([
        'audio unanswered 2',
        'video ended 1',
      ])
      expect((await store.summedCalls('c', period)).tallies).toEqual([])
    })

    test('loses expired calls, and none that is tracked or not that old, of no target', async () => {
      const store = await (await newPlace()).open()
      const a = await filled(store, A, { old: 10, kept: 11, edge: 50, young: 60 }, ['kept'])
      const b = await filled(store, B, { old: 10, kept: 11, edge: 50, young: 60 }, ['kept', 'young'])
      await store.deleteExpired(CREATED + 50)
      const left = ['edge 50', 'kept 11', 'young 60'].flatMap((call) => [`a ${call}`, `b ${call}`])
      const history = await finishedCalls(store, { since: CREATED, limit: 100 })
      expect(summariesOf(history).toSorted()).toEqual(left.toSorted())
      for (const [target, ledger] of [[A, a] as const, [B, b] as const]) {
        expect(contents((await openIn(store, target)).ledger).calls).toEqual(contents(ledger).calls)
      }
    })

    test('keeps calls that are open, lost or baseline, however old they are', async () => {
      const { store, ledger, see } = await openAt(newPlace)
      const calls = [
        seen('open', 'ongoing', { initiatedAt: CREATED }),
        seen('lost', 'ongoing', { initiatedAt: CREATED }),
        seen('baseline', 'ended', { endedAt: CREATED - 5 }),
      ]
      await see(completePoll(1, ...calls))
      for (const seconds of [2, 3]) await see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
      await store.deleteExpired(CREATED + 100 * DAY)
      const stored = contents((await openIn(store)).ledger).calls
      expect(stored).toEqual(contents(ledger).calls)
      expect([...stored.values()].map(({ phase }) => phase).toSorted()).toEqual(['baseline', 'lost', 'open'])
    })

    test('loses with its calls the evaluations and the minutes of months ago, of each target', async () => {
      const place = await newPlace()
      const store = await place.open()
      const MONTHS = 100 * DAY
      for (const target of [A, B]) {
        const { see } = await openIn(store, target)
        for (const seconds of [1, MONTHS]) {
          const minutes = { participantMinutes: { audio: 3, video: 0, total: undefined } }
          const evaluated = { kind: 'tick', at: CREATED + seconds, pollAge: 42 } as const
          await see(completePoll(seconds, seen(`call ${seconds}`, 'ongoing', minutes)), { evaluated })
        }
      }
      const kept = async () => {
        const reader = await place.reader()
        const logs = [await reader.evaluations('a', 0), await reader.evaluations('b', 0)]
        const evaluations = logs.map((log) => log.map(({ at }) => at - CREATED))
        await reader.close()
        const ledgers = [(await store.openTarget(A, 0, DAY)).ledger, (await store.openTarget(B, 0, DAY)).ledger]
        return { evaluations, quarters: ledgers.map(({ usage }) => usage.size) }
      }
      await store.deleteExpired(CREATED - DAY)
      const both = [1, MONTHS]
      expect(await kept()).toEqual({ evaluations: [both, both], quarters: [2, 2] })
      await store.deleteExpired(CREATED + MONTHS - DAY + 0.809)
      expect(await kept()).toEqual({ evaluations: [[MONTHS], [MONTHS]], quarters: [1, 1] })
    })
  })
}
