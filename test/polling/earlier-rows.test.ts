import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../src/ledger/call.ts'
import { COUNTERS } from '../../src/ledger/series.ts'
import { completePoll, CREATED, ledgerBook, seen, total } from '../ledger/seen.ts'
import { earlierRows } from '../../src/polling/earlier-rows.ts'
import { INTERVAL, running } from '../pipeline/running.ts'

const HOUR = 3600
const SWEEP_INTERVAL = 900
const minutes = (audio: number) => ({
  callMinutes: { audio, video: undefined, total: undefined },
  participantMinutes: { audio, video: undefined, total: undefined },
})
const at = ({ initiatedAt, startedAt, endedAt, ...call }: SeenCall, shift: number): SeenCall => ({
  ...call,
  initiatedAt: initiatedAt && initiatedAt + shift,
  startedAt: startedAt && startedAt + shift,
  endedAt: endedAt && endedAt + shift,
})
const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 4 }
const open = (id: string) => seen(id, 'ongoing', { ...times, ...minutes(0) })
const ended = (id: string, audio = 1) => seen(id, 'ended', { ...times, endedAt: CREATED + 130, ...minutes(audio) })

describe('a call whose times are shifted', () => {
  test.each([
    ['an open call, by two seconds', 2],
    ['an open call, by an hour', HOUR],
    ['an open call, back by two seconds', -2],
    ['an open call, back by an hour', -HOUR],
  ])('for a while, twice, counts once: %s', async (_what, shift) => {
    const { service, clock, book } = await running({ pageSize: 10 })
    const ids = ['a', 'b', 'c', 'd']
    for (const by of [0, shift, 0, shift, 0]) {
      service.calls = ids.map((id) => at(open(id), by))
      await clock.advance(2 * INTERVAL)
    }
    service.calls = ids.map((id) => ended(id))
    await clock.advance(3 * INTERVAL)
    expect([book.started(), book.finished(), book.lost()]).toEqual([4, 4, 0])
    expect(total(book.state, COUNTERS.callMinutes)).toBe(4)
  })

  test('counts also what the service corrects of it once its times are right again', async () => {
    const { service, clock, book } = await running({ pageSize: 10 })
    service.calls = [open('a')]
    await clock.advance(INTERVAL)
    for (const by of [0, HOUR, 0]) {
      service.calls = [at(ended('a'), by)]
      await clock.advance(3 * INTERVAL)
    }
    service.calls = [ended('a', 5)]
    // The next sweep shows that this is the call, and no earlier one with its id.
    await clock.advance(2 * SWEEP_INTERVAL)
    expect([book.finished(), total(book.state, COUNTERS.callMinutes)]).toEqual([1, 5])
  })
})

describe('an earlier row', () => {
  const tracked = at(ended('a', 7), 200)
  const earlier = ended('a', 4)
  /** Whether it is confirmed, each time that a page lists it. */
  function confirmed(...pages: { shown: SeenCall; now: number; sweptAt?: number }[]) {
    const book = ledgerBook({ details: 'never' })
    book.see(completePoll(400, tracked))
    const rows = earlierRows()
    return pages.map(({ shown, now, sweptAt }) => rows.confirm([shown], book.state, now, sweptAt).has('a'))
  }

  test('is the tracked call once a sweep that began after its first listing is complete', () => {
    const pages = [{ now: 10 }, { now: 11, sweptAt: 5 }, { now: 20, sweptAt: 10 }, { now: 30, sweptAt: 11 }]
    expect(confirmed(...pages.map((page) => ({ shown: earlier, ...page })))).toEqual([false, false, false, true])
  })

  test('is another call as long as the tracked one is listed in between', () => {
    const pages = [
      { shown: earlier, now: 10 },
      { shown: tracked, now: 15, sweptAt: 12 },
      { shown: earlier, now: 20, sweptAt: 12 },
      { shown: earlier, now: 30, sweptAt: 21 },
    ]
    expect(confirmed(...pages)).toEqual([false, false, false, true])
  })
})

describe('an id with two rows', () => {
  const later = at(ended('a', 7), 200)
  const earlier = ended('a', 4)
  const rows = (n: number) => Array.from({ length: n }, (_, i) => at(ended(`other ${i}`), 150))

  test.each([
    ['on one page', 10],
    ['on different pages', 2],
  ])('is never the earlier one while both are listed, however often: %s', async (_what, pageSize) => {
    const { service, clock, book } = await running({ pageSize })
    await clock.advance(400)
    service.calls = [later, ...rows(5), earlier]
    await clock.advance(60 * INTERVAL)
    expect(book.finished()).toBe(6)
    expect([total(book.state, COUNTERS.callMinutes), total(book.state, COUNTERS.corrections)]).toEqual([12, 0])
    expect(book.counted(COUNTERS.anomalies, 'repeated_id')).toBe(1)
  })
})
