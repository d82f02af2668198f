import { describe, expect, test } from 'vitest'
import { COUNTERS } from '../../src/ledger/series.ts'
import type { ListedCall } from '../../src/ledger/observation.ts'
import { backwardSteps } from '../../src/polling/backward-steps.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen } from '../ledger/seen.ts'
import { INTERVAL, running } from '../target/running.ts'

/** A ledger with one call in each state. */
function ledgerOfAll() {
  const book = ledgerBook({ details: 'never' })
  book.see(
    completePoll(
      1,
      seen('baseline', 'ended', { endedAt: CREATED - 60 }),
      seen('ended', 'ended', { endedAt: CREATED + 1 }),
      seen('reopened', 'ended', { endedAt: CREATED + 1 }),
      seen('ongoing', 'ongoing'),
      seen('ringing', 'initiated'),
      seen('lost', 'ongoing'),
    ),
  )
  book.see({ answers: [listed(CREATED + 2, seen('reopened', 'ongoing'))] })
  for (const seconds of [2, 3]) book.see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
  return book
}

describe('a step back in a list', () => {
  /** The ids that the polls let through, each poll given what it lists. */
  function pass(...polls: ListedCall[][]): string[][] {
    const { state } = ledgerOfAll()
    const steps = backwardSteps()
    return polls.map((calls) => {
      steps.begin()
      return steps.withhold(calls, state).map(({ id }) => id)
    })
  }

  test.each([
    ['a call that is over and listed open', seen('ended', 'ongoing')],
    ['a call that is over and listed as ringing', seen('ended', 'initiated')],
    ['a baseline call that is listed open', seen('baseline', 'ongoing')],
    ['a call that was answered and is listed as ringing', seen('ongoing', 'initiated')],
  ])('is not believed at first, and is in the second poll in a row: %s', (_what, back) => {
    expect(pass([back], [back])).toEqual([[], [back.id]])
    expect(pass([back], [], [back])).toEqual([[], [], []])
    expect(pass([back, back])).toEqual([[]])
  })

  test.each([
    ['a call that was never seen', seen('new', 'ongoing')],
    ['a call that is open and listed open', seen('ongoing', 'ongoing')],
    ['a call that rings and is answered', seen('ringing', 'ongoing')],
    ['a call that is over and listed as over otherwise', seen('ended', 'rejected')],
    ['a baseline call that is over', seen('baseline', 'ended')],
    ['a call that is known to be open again', seen('reopened', 'ongoing')],
    ['a lost call that is back', seen('lost', 'ongoing')],
  ])('is nothing else: %s', (_what, shown) => {
    expect(pass([shown])).toEqual([[shown.id]])
  })

  test('is no row that says nothing new', () => {
    const row = ledgerOfAll().state.calls.get('ended')!
    expect(pass([{ ...row, status: 'ongoing' }])).toEqual([['ended']])
  })

  test('is to be asked about, and says nothing more once Get Call has answered', () => {
    const { state } = ledgerOfAll()
    const steps = backwardSteps()
    const back = [seen('ended', 'ongoing'), seen('baseline', 'ongoing')]
    steps.begin()
    steps.withhold(back, state)
    expect(steps.doubtful(state).map(({ id }) => id)).toEqual(['ended', 'baseline'])
    steps.answered('ended')
    steps.begin()
    expect(steps.withhold(back, state).map(({ id }) => id)).toEqual(['baseline'])
    expect(steps.doubtful(state).map(({ id }) => id)).toEqual(['ended'])
  })
})

describe('a call that is over, and that a page shows open', () => {
  const ended = seen('a', 'ended', { endedAt: CREATED, totalParticipants: 2 })
  const open = seen('a', 'ongoing')
  const backwards = ({ book }: Awaited<ReturnType<typeof running>>) =>
    book.counted(COUNTERS.transitions, 'ended', 'ongoing', 'true')

  async function afterTheEnd() {
    const world = await running({ pageSize: 10 })
    world.service.calls = [ended]
    await world.clock.advance(1)
    world.service.asked.length = 0
    return world
  }

  test('as an old answer does, is asked for and stays as it is, however long that goes on', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    world.service.known.set('a', ended)
    await world.clock.advance(3 * INTERVAL)
    expect(world.service.asked).toEqual([1, 'a', 1, 'a', 1, 'a'])
    expect([backwards(world), world.book.counted(COUNTERS.anomalies, 'final_changed')]).toEqual([0, 0])
  })

  test('is open again in the poll in which Get Call shows it so', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(1)
  })

  test('is open again in the second poll where Get Call cannot be asked', async () => {
    const world = await afterTheEnd()
    world.service.calls = [open]
    world.service.fails = (operation) => (operation === 'get' ? new ServiceError('server', 'it is down') : undefined)
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(0)
    await world.clock.advance(INTERVAL)
    expect(backwards(world)).toBe(1)
  })

  test('counts whole where it was baseline', async () => {
    const world = await running({ pageSize: 10 })
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
