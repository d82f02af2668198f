import { describe, expect, test } from 'vitest'
import { COUNTERS } from '../../../src/ledger/series.ts'
import type { ListedCall } from '../../../src/ledger/observation.ts'
import { statusRegressions } from '../../../src/polling/status-regressions.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'
import { INTERVAL, running } from '../pipeline/running.ts'

/** A ledger with one call in each state. */
function ledgerOfAll() {
  const book = ledgerBook({ details: 'never' })
  book.see(
    completePoll(
      1,
      seen('baseline', 'ended', { endedAt: CREATED - 60 }),
      seen('ended', 'ended', { endedAt: CREATED + 1 }),
      seen('failed', 'other', { endedAt: CREATED + 1 }),
      seen('reopened', 'ended', { endedAt: CREATED + 1 }),
      seen('put back', 'ended', { endedAt: CREATED + 1 }),
      seen('ongoing', 'ongoing'),
      seen('ringing', 'initiated'),
      seen('lost', 'ongoing'),
    ),
  )
  book.see({ answers: [listed(CREATED + 2, seen('reopened', 'ongoing'), seen('put back', 'other'))] })
  for (const seconds of [2, 3]) book.see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
  return book
}

describe('a status regression in a list', () => {
  /** The ids that are not withheld, for each poll with these calls. */
  function pass(...polls: ListedCall[][]): string[][] {
    const { state } = ledgerOfAll()
    const regressions = statusRegressions()
    return polls.map((calls) => {
      regressions.startPoll()
      return regressions.withhold(calls, state).map(({ id }) => id)
    })
  }

  test.each([
    ['a final call that is listed open', seen('ended', 'ongoing')],
    ['a final call that is listed as initiated', seen('ended', 'initiated')],
    ['a final call that is listed with an undocumented status and without an end', seen('ended', 'other')],
    ['a call with an undocumented status that is listed without its end', seen('failed', 'other')],
    ['a baseline call that is listed open', seen('baseline', 'ongoing')],
    ['a baseline call that is listed with an undocumented status and without an end', seen('baseline', 'other')],
    ['an ongoing call that is listed as initiated', seen('ongoing', 'initiated')],
    ['a call that has opened again and is listed as initiated', seen('reopened', 'initiated')],
  ])('is withheld in the first poll, and accepted in the second one in a row: %s', (_what, back) => {
    expect(pass([back], [back])).toEqual([[], [back.id]])
    expect(pass([back], [], [back])).toEqual([[], [], []])
    expect(pass([back, back])).toEqual([[]])
  })

  test.each([
    ['a call that was never seen', seen('new', 'ongoing')],
    ['an open call that is listed open', seen('ongoing', 'ongoing')],
    ['an initiated call that is listed as ongoing', seen('ringing', 'ongoing')],
    ['an ongoing call with an undocumented status', seen('ongoing', 'other')],
    ['a final call with another final status', seen('ended', 'rejected')],
    ['a final call with an undocumented status and an end', seen('ended', 'other', { endedAt: CREATED + 1 })],
    ['a final baseline call', seen('baseline', 'ended')],
    ['a call that has opened again', seen('reopened', 'ongoing')],
    ['a call that has opened again with an undocumented status', seen('put back', 'other')],
    ['a lost call that has reappeared', seen('lost', 'ongoing')],
  ])('is not %s', (_what, shown) => {
    expect(pass([shown])).toEqual([[shown.id]])
  })

  test.each([
    [['other', 'ongoing']],
    [['ongoing', 'other', 'initiated']],
    [['initiated', 'ongoing', 'ended']],
  ] as const)('is none where the pages of a group show a new call as %j', (statuses) => {
    const shown = statuses.map((status) => seen('new', status))
    expect(pass(shown)).toEqual([shown.map(({ id }) => id)])
  })

  test.each([[['ended', 'other']], [['ended', 'ongoing']], [['ongoing', 'initiated']]] as const)(
    'is the second of the states %j that the pages of a group show of a new call',
    (statuses) => {
      expect(pass(statuses.map((status) => seen('new', status)))).toEqual([['new']])
    },
  )

  test('is not a row that the client found unchanged', () => {
    const row = ledgerOfAll().state.calls.get('ended')!
    expect(pass([{ ...row, status: 'ongoing' }])).toEqual([['ended']])
  })

  test('is unconfirmed until Get Call has answered, and is a new one after that', () => {
    const { state } = ledgerOfAll()
    const regressions = statusRegressions()
    const back = [seen('ended', 'ongoing'), seen('baseline', 'ongoing')]
    regressions.startPoll()
    regressions.withhold(back, state)
    expect(regressions.unconfirmed(state).map(({ id }) => id)).toEqual(['ended', 'baseline'])
    regressions.answered('ended')
    regressions.startPoll()
    expect(regressions.withhold(back, state).map(({ id }) => id)).toEqual(['baseline'])
    expect(regressions.unconfirmed(state).map(({ id }) => id)).toEqual(['ended'])
  })
})

test('an open call is listed without a status regression after the commit that had it final has failed', async () => {
  const { clock, service, storage } = await running({ pageSize: 10 })
  service.calls = [seen('a', 'ongoing')]
  await clock.advance(1)
  service.calls = [seen('a', 'ended', { endedAt: CREATED })]
  storage.fails = true
  await clock.advance(INTERVAL)
  storage.fails = false
  service.calls = [seen('a', 'ongoing')]
  await clock.advance(INTERVAL)
  expect(service.asked).not.toContain('a')
})

describe.each(['ongoing', 'other'] as const)('a final call that a page shows open, as %s', (status) => {
  const ended = seen('a', 'ended', { endedAt: CREATED, totalParticipants: 2 })
  const open = seen('a', status)
  const backwards = ({ book }: Awaited<ReturnType<typeof running>>) =>
    book.counted(COUNTERS.transitions, 'ended', status, 'true')

  async function afterTheEnd() {
    const world = await running({ pageSize: 10 })
    world.service.calls = [ended]
    await world.clock.advance(1)
    world.service.asked.length = 0
    return world
  }

  test('is requested in each poll and stays final, as long as Get Call shows it final', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    world.service.known.set('a', ended)
    await world.clock.advance(3 * INTERVAL)
    expect(world.service.asked).toEqual([1, 'a', 1, 'a', 1, 'a'])
    expect([backwards(world), world.book.counted(COUNTERS.anomalies, 'final_changed')]).toEqual([0, 0])
  })

  test('is open again in the poll in which Get Call shows it open', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(1)
    world.service.asked.length = 0
    await world.clock.advance(2 * INTERVAL)
    expect(world.service.asked).toEqual([1, 1])
  })

  test('is open again in the second poll if Get Call fails', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    world.service.fails = (operation) => (operation === 'get' ? new ServiceError('server', 'it is down') : undefined)
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(0)
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(1)
  })

  test('counts as started and finished if it was baseline', async () => {
    const world = await running({ pageSize: 10, baseline: 'skip' })
    world.service.calls = [{ ...ended, endedAt: CREATED - 60 }]
    await world.clock.advance(1)
    world.service.calls = [open]
    await world.clock.advance(INTERVAL)
    expect([world.book.started(), world.book.finished()]).toEqual([1, 0])
    world.service.calls = [{ ...ended, endedAt: CREATED + 40 }]
    await world.clock.advance(2 * INTERVAL)
    expect([world.book.started(), world.book.finished()]).toEqual([1, 1])
  })
})
