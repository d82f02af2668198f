import { describe, expect, test } from 'vitest'
import { settleClock, UNSETTLED } from '../../src/polling/clock-difference.ts'
import { CREATED, seen } from '../ledger/seen.ts'
import { INTERVAL, running } from '../target/running.ts'

const HOUR = 3600
const CENTURY = 74 * 365 * 86_400

describe('the difference of the clocks', () => {
  const times = (count: number, difference: number) => Array.from({ length: count }, () => difference)

  test.each<[string, number[], number | undefined]>([
    ['settled by one answer that agrees with the host', [1], 1],
    ['settled by one that is five seconds behind the host', [-5], -5],
    ['open after one that does not agree with the host', [6], undefined],
    ['open after four that agree with each other alone', times(4, HOUR), undefined],
    ['settled by five that agree with each other alone', times(5, HOUR), HOUR],
    ['the one in the middle of five', [HOUR, HOUR + 5, HOUR + 2, HOUR + 3, HOUR + 4], HOUR + 3],
    ['open where the five are further apart', [HOUR, HOUR + 3, HOUR + 3, HOUR + 3, HOUR + 6], undefined],
    ['open where one of five does not agree', [HOUR, HOUR, 9000, HOUR, HOUR], undefined],
    ['settled by five that agree after one that did not', [HOUR, HOUR, CENTURY, ...times(5, HOUR)], HOUR],
    ['open where the one that did not was the fourth of them', [CENTURY, ...times(4, HOUR)], undefined],
    ['settled by the first answer that agrees with the host', [CENTURY, CENTURY, HOUR, 0.4], 0.4],
    ['open after nineteen that never agree', Array.from({ length: 19 }, (_, i) => 1000 * (i + 1)), undefined],
    ['the one in the middle of twenty that never agree', Array.from({ length: 20 }, (_, i) => 1000 * (i + 1)), 11_000],
  ])('is %s', (_what, differences, settled) => {
    const before = differences.slice(0, -1).reduce(settleClock, UNSETTLED)
    expect(before.settled).toBeUndefined()
    expect(settleClock(before, differences.at(-1)).settled).toBe(settled)
  })
})

describe('answers that show no clock', () => {
  /** Eleven that never agree. */
  const far = Array.from({ length: 11 }, (_, i) => 1000 * (i + 15))
  const afterAll = (...differences: (number | undefined)[]) => differences.reduce(settleClock, UNSETTLED).settled

  test.each<[string, (number | undefined)[], number | undefined]>([
    ['settle nothing by themselves', [undefined, undefined, undefined, undefined], undefined],
    [
      'mean the host clock after five, where none ever showed one',
      [undefined, undefined, undefined, undefined, undefined],
      0,
    ],
    [
      'do not settle what others disagree about',
      [HOUR, undefined, undefined, undefined, undefined, undefined],
      undefined,
    ],
    ['are the host clock where they are most of twenty', [HOUR, ...Array<undefined>(19).fill(undefined)], 0],
    ['are not where they are less than half of twenty', [...far, ...Array<undefined>(9).fill(undefined)], 16_000],
    ['do not part answers that agree', [HOUR, undefined, HOUR, HOUR, undefined, HOUR, HOUR], HOUR],
  ])('%s', (_what, differences, settled) => {
    expect(afterAll(...differences)).toBe(settled)
  })
})

describe('before the clocks are settled', () => {
  const ended = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })

  test('no poll is successful, nothing is counted, and the first page alone is asked for', async () => {
    const { clock, service, book, commits, reports } = await running({ pageSize: 2 })
    service.ahead = HOUR
    service.calls = ['a', 'b', 'c'].map((id) => seen(id, 'ongoing', { initiatedAt: CREATED + HOUR }))
    await clock.advance(3 * INTERVAL + 1)
    expect(service.asked).toEqual([1, 1, 1, 1])
    expect(reports().map(({ outcome, good }) => [outcome, good])).toEqual(
      Array.from({ length: 4 }, () => ['partial', false]),
    )
    expect(reports().at(-1)?.problem).toBe(
      "the service's clock and this host's differ by 60 minutes, as its Date header has it: nothing is counted before " +
        "5 answers in a row agree (4 so far); check this host's clock",
    )
    expect([commits.filter(({ evaluated }) => evaluated?.kind !== 'tick'), book.state.sync.clockSkew]).toEqual([
      [],
      undefined,
    ])
    await clock.advance(INTERVAL)
    // The page that settled it is not asked for twice.
    expect(service.asked).toEqual([1, 1, 1, 1, 1, 2])
    expect([reports().at(-1)?.good, book.started()]).toEqual([true, 3])
    expect(book.state.sync).toMatchObject({ clockSkew: HOUR, created: CREATED + HOUR })
  })

  test.each([
    ['an hour ahead', HOUR],
    ['in the year 2100', CENTURY],
    ['an hour behind', -HOUR],
  ])('first answers that are %s make no call baseline that ended after the set-up', async (_what, wrong) => {
    const { clock, service, book } = await running({ pageSize: 10 })
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
  })

  test('of five answers that agree the one in the middle is believed, not the one that settled it', async () => {
    const { clock, service, book } = await running({ offset: 1 })
    service.calls = [seen('a', 'ongoing', { initiatedAt: CREATED })]
    for (const ahead of [HOUR, HOUR + 4, HOUR + 2, HOUR + 1, HOUR + 4]) {
      service.ahead = ahead
      await clock.advance(INTERVAL)
    }
    expect(book.state.sync.clockSkew).toBe(HOUR + 2)
  })

  describe('after it was settled', () => {
    const open = seen('a', 'ongoing', { initiatedAt: CREATED })
    async function settled() {
      const world = await running({ pageSize: 10 })
      world.service.calls = [open]
      await world.clock.advance(1)
      return world
    }

    test.each([
      ['in the year 2100', CENTURY],
      ['two hours behind', -2 * HOUR],
    ])('one answer that is %s is not counted, and changes nothing for good', async (_what, wrong) => {
      const { clock, service, book, outcomes } = await settled()
      service.ahead = wrong
      service.calls = [ended('a', 5)]
      await clock.advance(INTERVAL)
      expect([book.finished(), book.state.sync.clockSkew]).toEqual([0, 0])
      service.ahead = 0
      await clock.advance(INTERVAL)
      expect([outcomes(), book.finished()]).toEqual([['complete', 'failed', 'complete'], 1])
      expect(book.state.calls.get('a')?.finish?.known).toBeLessThan(CREATED + HOUR)
    })

    test('a step of one of the clocks is believed once five answers in a row agree', async () => {
      const { clock, service, book, outcomes } = await settled()
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
      expect(outcomes().slice(-2)).toEqual(['complete', 'complete'])
    })

    test('a smaller step is followed at once', async () => {
      const { clock, service, book, outcomes } = await settled()
      service.ahead = HOUR
      service.calls = [ended('a', 5)]
      await clock.advance(INTERVAL)
      expect([outcomes(), book.state.sync.clockSkew, book.finished()]).toEqual([['complete', 'complete'], 0, 1])
    })

    test('Get Call with a wrong Date is not believed either', async () => {
      const { clock, service, book } = await settled()
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
