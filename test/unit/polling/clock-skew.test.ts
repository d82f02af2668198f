import { describe, expect, test } from 'vitest'
import { addSkew, UNKNOWN_SKEW, type ClockSkew } from '../../../src/polling/clock-skew.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { INTERVAL, running } from '../pipeline/running.ts'

const HOUR = 3600
const DAY = 86_400
const CENTURY = 74 * 365 * DAY
/** All answers come at the same moment. */
const add = (before: ClockSkew, skew: number | undefined) => addSkew(before, skew, 0)

describe('the clock skew', () => {
  const times = (count: number, difference: number) => Array.from({ length: count }, () => difference)

  test.each<[string, number[], number | undefined]>([
    ['accepted after one answer that agrees with the host', [1], 1],
    ['accepted after one that is five seconds behind the host', [-5], -5],
    ['not accepted after one that does not agree with the host', [6], undefined],
    ['not accepted after four that only agree with each other', times(4, HOUR), undefined],
    ['accepted after five that only agree with each other', times(5, HOUR), HOUR],
    ['the median of five', [HOUR - 3, HOUR + 2, HOUR - 1, HOUR, HOUR + 1], HOUR],
    ['not accepted if the five are further apart', [HOUR, HOUR + 3, HOUR + 3, HOUR + 3, HOUR + 6], undefined],
    ['not accepted if one of five does not agree', [HOUR, HOUR, 9000, HOUR, HOUR], undefined],
    ['accepted after five that agree after one that did not', [HOUR, HOUR, CENTURY, ...times(5, HOUR)], HOUR],
    ['not accepted if four follow one that did not agree', [CENTURY, ...times(4, HOUR)], undefined],
    ['accepted after the first answer that agrees with the host', [CENTURY, CENTURY, HOUR, 0.4], 0.4],
    ['not accepted after nineteen that never agree', Array.from({ length: 19 }, (_, i) => 100 * (i + 1)), undefined],
    ['the median of twenty that never agree', Array.from({ length: 20 }, (_, i) => 100 * (i + 1)), 1100],
  ])('is %s', (_what, differences, accepted) => {
    const before = differences.slice(0, -1).reduce(add, UNKNOWN_SKEW)
    expect(before.accepted).toBeUndefined()
    expect(addSkew(before, differences.at(-1), 0).accepted).toBe(accepted)
  })
})

describe('a service that is more than an hour ahead of the host at the set-up', () => {
  /** So many answers, one in fifteen seconds. */
  const after = (answers: number, skew: (i: number) => number | undefined) =>
    Array.from({ length: answers }, (_, i) => skew(i)).reduce(
      (known: ClockSkew, each, i) => addSkew(known, each, i * INTERVAL),
      UNKNOWN_SKEW,
    ).accepted

  test.each([
    ['two hours', 2 * HOUR],
    ['25 hours', 25 * HOUR],
    ['a year', 365 * DAY],
  ])('is believed once that has lasted for an hour: %s', (_what, skew) => {
    expect(after(240, () => skew)).toBeUndefined()
    expect(after(241, () => skew)).toBe(skew)
  })

  test('is believed for the median after an hour, where its answers never agree', () => {
    const skew = (i: number) => DAY + 10 * (i + 1)
    expect(after(240, skew)).toBeUndefined()
    expect(after(241, skew)).toBe(DAY + 2320)
  })

  test('was wrong where the clocks agree again', () => {
    expect(after(101, (i) => (i === 100 ? 0 : 25 * HOUR))).toBe(0)
  })
})

describe('answers without a Date', () => {
  /** Eleven that never agree. */
  const far = Array.from({ length: 11 }, (_, i) => 100 * (i + 15))
  const afterAll = (...differences: (number | undefined)[]) => differences.reduce(add, UNKNOWN_SKEW).accepted

  test.each<[string, (number | undefined)[], number | undefined]>([
    ['decide no clock skew before the fifth', [undefined, undefined, undefined, undefined], undefined],
    [
      'decide for the host clock after five, if no answer ever had a Date',
      [undefined, undefined, undefined, undefined, undefined],
      0,
    ],
    [
      'decide no clock skew if one answer disagrees',
      [HOUR, undefined, undefined, undefined, undefined, undefined],
      undefined,
    ],
    ['decide for the host clock if they are most of twenty', [HOUR, ...Array<undefined>(19).fill(undefined)], 0],
    [
      'do not decide for the host clock if they are less than half of twenty',
      [...far, ...Array<undefined>(9).fill(undefined)],
      1600,
    ],
    ['do not interrupt answers that agree', [HOUR, undefined, HOUR, HOUR, undefined, HOUR, HOUR], HOUR],
  ])('%s', (_what, differences, accepted) => {
    expect(afterAll(...differences)).toBe(accepted)
  })
})

describe('until a clock skew is accepted', () => {
  const ended = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })

  test('no poll is successful, nothing is counted, and only the first page is requested', async () => {
    const { clock, service, book, commits, reports } = await running({ pageSize: 2 })
    service.ahead = HOUR
    service.calls = ['a', 'b', 'c'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED + HOUR }))
    await clock.advance(3 * INTERVAL + 1)
    expect(service.asked).toEqual([1, 1, 1, 1])
    expect(reports().map(({ outcome, successful }) => [outcome, successful])).toEqual(
      Array.from({ length: 4 }, () => ['partial', false]),
    )
    expect(reports().at(-1)?.problem).toBe(
      "the service's clock and this host's differ by 1h, by its Date header: nothing is counted before " +
        "5 answers in a row agree (4 so far); check this host's clock",
    )
    expect([commits.filter(({ evaluated }) => evaluated?.kind !== 'tick'), book.state.sync.clockSkew]).toEqual([
      [],
      undefined,
    ])
    await clock.advance(INTERVAL)
    // The page that showed it is not requested twice.
    expect(service.asked).toEqual([1, 1, 1, 1, 1, 2, 3])
    expect([reports().at(-1)?.successful, book.started()]).toEqual([true, 3])
    expect(book.state.sync).toMatchObject({ clockSkew: HOUR, created: CREATED + HOUR })
  })

  test.each([
    ['an hour ahead', HOUR],
    ['in the year 2100', CENTURY],
    ['an hour behind', -HOUR],
  ])(
    'first answers that are %s make no call baseline that ended after the target was created',
    async (_what, wrong) => {
      const { clock, service, book } = await running({ pageSize: 10, baseline: 'skip' })
      service.ahead = wrong
      service.calls = [ended('after', 20), ended('before', -20)]
      await clock.advance(2 * INTERVAL + 1)
      service.ahead = 0
      await clock.advance(2 * INTERVAL)
      expect(book.state.sync).toMatchObject({ clockSkew: 0, created: CREATED })
      expect(Array.from(book.state.calls.values(), ({ id, phase }) => `${id} ${phase}`)).toEqual([
        'after final',
        'before baseline',
      ])
    },
  )

  test('first answers that are twelve hours ahead for some minutes lose no call', async () => {
    const { clock, service, book } = await running({ pageSize: 10 })
    service.ahead = 12 * HOUR
    await clock.advance(20 * INTERVAL)
    service.ahead = 0
    service.calls = [ended('after', 20)]
    await clock.advance(INTERVAL)
    expect([book.finished(), book.state.sync.created]).toEqual([1, CREATED])
  })

  test('a later page of the first poll with a wrong Date is not counted', async () => {
    const { clock, service, book, outcomes } = await running({ pageSize: 2 })
    service.calls = [ended('c', 3), ended('b', 2), ended('a', 1)]
    service.beforePage = (page) => void (service.ahead = page === 2 ? CENTURY : 0)
    await clock.advance(1)
    expect([outcomes(), book.finished(), book.state.sync.clockSkew]).toEqual([['partial'], 2, 0])
    service.beforePage = () => void (service.ahead = 0)
    await clock.advance(INTERVAL)
    expect([
      book.finished(),
      [...book.state.calls.values()].every(({ firstSeen }) => firstSeen < CREATED + HOUR),
    ]).toEqual([3, true])
  })

  test('the median of five answers that agree is used, not the last one', async () => {
    const { clock, service, book } = await running({ offset: 1 })
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    for (const ahead of [HOUR - 2, HOUR + 2, HOUR, HOUR - 1, HOUR + 2]) {
      service.ahead = ahead
      await clock.advance(INTERVAL)
    }
    expect(book.state.sync.clockSkew).toBe(HOUR)
  })

  test('a first page without a `Date`, which has the time of the host, is requested again once the skew is known', async () => {
    const { clock, service, book } = await running({ pageSize: 10, offset: 1 })
    for (let n = 0; n < 19; n++) {
      service.ahead = -2800 - 10 * n
      await clock.advance(INTERVAL)
    }
    service.asked.length = 0
    service.ahead = 0
    service.says = { isUndated: true }
    await clock.advance(INTERVAL)
    expect([service.asked, book.state.sync.clockSkew]).toEqual([[1, 1], -2880])
  })

  describe('after a clock skew was accepted', () => {
    const open = seen('a', 'ongoing', { initiatedAt: CREATED })
    async function withAcceptedSkew() {
      const world = await running({ pageSize: 10 })
      world.service.calls = [open]
      await world.clock.advance(1)
      return world
    }

    test.each([
      ['in the year 2100', CENTURY],
      ['two hours behind', -2 * HOUR],
    ])('one answer that is %s is not counted, and has no effect later', async (_what, wrong) => {
      const { clock, service, book, outcomes } = await withAcceptedSkew()
      service.ahead = wrong
      service.calls = [ended('a', 5)]
      await clock.advance(INTERVAL)
      expect([book.finished(), book.state.sync.clockSkew]).toEqual([0, 0])
      service.ahead = 0
      await clock.advance(INTERVAL)
      expect([outcomes(), book.finished()]).toEqual([['complete', 'failed', 'incremental'], 1])
      expect(book.state.calls.get('a')?.finish?.known).toBeLessThan(CREATED + HOUR)
    })

    test('a step of one of the clocks is accepted once five answers in a row agree', async () => {
      const { clock, service, book, outcomes } = await withAcceptedSkew()
      service.ahead = 2 * HOUR
      await clock.advance(2 * INTERVAL)
      service.ahead = 0
      await clock.advance(INTERVAL)
      service.ahead = 2 * HOUR
      service.calls = [ended('a', 5)]
      await clock.advance(4 * INTERVAL)
      expect([book.finished(), book.state.sync.clockSkew]).toEqual([0, 0])
      await clock.advance(INTERVAL)
      expect([book.finished(), book.state.sync.clockSkew]).toEqual([1, 2 * HOUR])
      expect(book.state.sync.created).toBe(CREATED)
      await clock.advance(INTERVAL)
      expect(outcomes().slice(-2)).toEqual(['incremental', 'incremental'])
    })

    test.each([
      ['25 hours', 25 * HOUR],
      ['a year', 365 * DAY],
    ])('a service that is %s ahead for twenty minutes moves no horizon', async (_what, ahead) => {
      const { clock, service, book, outcomes, reports } = await withAcceptedSkew()
      service.ahead = ahead
      await clock.advance(20 * 60)
      expect(new Set(outcomes().slice(1))).toEqual(new Set(['failed']))
      expect(reports().at(-1)?.problem).toContain('nothing is counted before that has lasted for an hour')
      service.ahead = 0
      service.calls = [ended('late', 30)]
      await clock.advance(INTERVAL)
      expect(book.finished()).toBe(1)
      expect(book.state.sync.horizon).toBeLessThan(clock.wall() - DAY)
    })

    test('a service that is a year ahead for good is believed after an hour', async () => {
      const { clock, service, book, outcomes } = await withAcceptedSkew()
      service.ahead = 365 * DAY
      await clock.advance(HOUR + 2 * INTERVAL)
      expect([outcomes().at(-1), book.state.sync.clockSkew]).toEqual(['complete', 365 * DAY])
    })

    test('a smaller step is accepted at once', async () => {
      const { clock, service, book, outcomes } = await withAcceptedSkew()
      service.ahead = HOUR
      service.calls = [ended('a', 5)]
      await clock.advance(INTERVAL)
      expect([outcomes(), book.state.sync.clockSkew, book.finished()]).toEqual([['complete', 'incremental'], 0, 1])
    })

    test('an answer of Get Call with a wrong Date is not counted either', async () => {
      const { clock, service, book } = await withAcceptedSkew()
      service.calls = []
      service.known.set('a', ended('a', 5))
      service.beforePage = () => void (service.ahead = 0)
      service.fails = (operation) => void (operation === 'get' && (service.ahead = CENTURY))
      await clock.advance(2 * INTERVAL)
      expect(book.finished()).toBe(0)
      service.fails = () => undefined
      await clock.advance(20 * INTERVAL)
      expect(book.finished()).toBe(1)
    })
  })
})
