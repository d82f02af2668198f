import { describe, expect, test } from 'vitest'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import type { Message, PastMessage } from '../../../src/notifications/message.ts'
import { pastReport, type SetUpTarget } from '../../../src/notifications/past-report.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { shippedRules } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, DAY, OPTIONS } from '../../kit/store/place.ts'

const HOUR = 3600
const over = (id: string, hours: number, status: 'ended' | 'rejected' = 'ended') => {
  const at = CREATED - hours * HOUR
  const participantMinutes = { audio: 2, video: 1, total: undefined }
  return seen(id, status, { initiatedAt: at - 60, startedAt: at - 60, endedAt: at, participantMinutes })
}
/** Calls of the day before, of which most fail in one hour, and one has been open since then. */
const YESTERDAY = [
  over('a', 2),
  over('b', 5.1, 'rejected'),
  over('c', 5.2, 'rejected'),
  over('d', 7, 'rejected'),
  over('too old', 25),
  seen('open', 'ongoing', { initiatedAt: CREATED - 9 * HOUR, startedAt: CREATED - 9 * HOUR }),
]

function reporting(names: readonly string[], calls = YESTERDAY) {
  const store = openSqliteStore({ path: ':memory:' })
  const targets = new Map<string, SetUpTarget>()
  const add = (name: string, differing: Partial<SetUpTarget> = {}) =>
    void targets.set(name, {
      name,
      created: CREATED,
      serviceNow: CREATED + 30,
      isSwept: true,
      past: { from: CREATED - 2 * DAY, readAt: CREATED + 20 },
      ...differing,
    })
  const made: { keys: readonly string[]; message: Message }[] = []
  const report = async () => {
    const next = await pastReport({
      store,
      clock: { wall: () => CREATED },
      targets: () => [...targets.values()],
      settings: () => ({ digest: { timezone: 'Europe/Berlin' }, rules: shippedRules() }),
      isReported: (key) => made.some(({ keys }) => keys.includes(key)),
    })
    if (next !== undefined) made.push(next)
  }
  const messages = (): PastMessage[] => made.flatMap(({ message }) => (message.kind === 'past' ? message : []))
  return {
    add,
    report,
    messages,
    reported: () => messages().map(({ targets: of }) => of),
    setUp: async () => {
      for (const name of names) {
        add(name)
        const { ledger } = await store.openTarget({ name, fingerprint: '' }, CREATED, DAY)
        const options = { ...OPTIONS, baseline: 'count' as const, lookback: 2 * DAY }
        await store.commit(name, commitOf(computeDelta(ledger, completePoll(20, ...calls), options)!))
      }
    },
  }
}

test('the past of a target has its calls, minutes and long calls of a day, its worst hour, and the rules', async () => {
  const { setUp, report, messages } = reporting(['production'], YESTERDAY)
  await setUp()
  await report()
  const [message] = messages()
  expect(message).toMatchObject({
    targets: ['production'],
    from: CREATED + 30 - DAY,
    to: CREATED + 30,
    counts: { ended: 1, rejected: 3, total: 4 },
    minutes: 12,
    open: { calls: 1, oldest: 9 * HOUR + 30 },
    timezone: 'Europe/Berlin',
  })
  // So few calls show no bad hour.
  expect(message).not.toHaveProperty('worstHour')
  expect(message!.rules).toContain('NoGoodPoll: no successful poll for 5m')
})

test('the worst hour is that with the largest share of failures, and not the busiest one', async () => {
  const hour = (ago: number, calls: number, rejected: number) =>
    Array.from({ length: calls }, (_, i) => over(`${ago} ${i}`, ago + i / 1000, i < rejected ? 'rejected' : 'ended'))
  const worstOf = async (...hours: [ago: number, calls: number, rejected: number][]) => {
    const { setUp, report, messages } = reporting(
      ['a'],
      hours.flatMap((each) => hour(...each)),
    )
    await setUp()
    await report()
    return messages()[0]!.worstHour
  }
  const busy = [8.1, 100, 20] as const
  expect(await worstOf([...busy], [5.1, 20, 12], [3.1, 2, 2])).toMatchObject({
    from: Math.floor((CREATED - 5.1 * HOUR) / HOUR) * HOUR,
    counts: { rejected: 12, total: 20 },
  })
  expect(await worstOf([...busy], [5.1, 20, 5])).toBeUndefined()
})

describe('the report of the past', () => {
  test('of 300 new targets is one message, which counts them together', async () => {
    const names = Array.from({ length: 300 }, (_, i) => `t${i}`)
    const { setUp, report, messages } = reporting(names, [over('a', 2)])
    await setUp()
    await report()
    expect(messages().map(({ counts, targets }) => [counts.total, targets.length])).toEqual([[300, 300]])
  })

  test('comes once in the life of a target', async () => {
    const { setUp, report, reported } = reporting(['a', 'b'])
    await setUp()
    for (const _time of [1, 2, 3]) await report()
    expect(reported()).toEqual([['a', 'b']])
  })

  test('has the targets that were added later, and those that were set up again', async () => {
    const { setUp, add, report, reported } = reporting(['a'])
    await setUp()
    await report()
    add('b')
    await report()
    add('a', { created: CREATED + 100 })
    await report()
    expect(reported()).toEqual([['a'], ['b'], ['a']])
  })

  test('waits ten minutes for a target whose list is still read', async () => {
    const { setUp, add, report, reported } = reporting(['a'])
    await setUp()
    for (const seconds of [30, 599]) {
      add('slow', { isSwept: false, past: undefined, serviceNow: CREATED + seconds })
      await report()
    }
    expect(reported()).toEqual([])
    add('slow', { isSwept: false, past: undefined, serviceNow: CREATED + 601 })
    await report()
    add('slow')
    await report()
    expect(reported()).toEqual([['a'], ['slow']])
  })

  test.each([
    ['whose past is not counted', { past: undefined }],
    ['that was set up more than a day ago', { serviceNow: CREATED + DAY + 1 }],
  ])('has no target %s', async (_what, differing) => {
    const { setUp, add, report, reported } = reporting(['a'])
    await setUp()
    add('a', differing)
    await report()
    expect(reported()).toEqual([])
  })

  test('of an empty list says so', async () => {
    const { setUp, report, messages } = reporting(['a'], [])
    await setUp()
    await report()
    const [message] = messages()
    expect(message).toMatchObject({ counts: { total: 0 }, open: { calls: 0 } })
    expect(message).not.toHaveProperty('worstHour')
  })
})
