import { expect, test } from 'vitest'
import type { CallPage } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { polling } from './polling.ts'

const DAY = 86_400
const MISSED = 60
const ended = (id: string, at: number) => seen(id, 'ended', { initiatedAt: at - 5, endedAt: at })
const NO_TOTAL = { total: undefined, totalPages: undefined }
const empty = (page: CallPage): CallPage => ({ ...page, calls: [], keys: [], items: 0 })

type Early = {
  says?: Partial<CallPage>
  /** The first page that is empty, or that fails, or instead of which the first one is shown. */
  from: number
  as: 'empty' | 'failing' | 'the first page'
}

/** How many calls count that ended during five days without an answer; two sweeps after them end early. */
async function countedAfterOutage({ says, from, as }: Early): Promise<number> {
  const { service, book, clock, untilComplete } = polling({ lookback: DAY, pageSize: 10, slice: 50 })
  if (says) service.says = says
  const add = (id: string, at: number) => service.calls.unshift(ended(id, at))
  for (let i = 0; i < 8; i++) add(`old ${i}`, CREATED - 5000 + i * 10)
  await untilComplete()
  for (let day = 0; day < 3; day++) {
    await clock.advance(0.6 * DAY)
    add(`live ${day}`, clock.wall() - 20)
    await untilComplete()
  }
  const began = clock.wall()
  await clock.advance(5 * DAY)
  for (let i = 0; i < MISSED; i++) add(`missed ${i}`, began + 50 + i * 7000)
  for (let sweep = 0; sweep < 2; sweep++) {
    const first = service.calls.slice(0, 10)
    service.shows = (page) => {
      if (page.page < from || as === 'failing') return page
      return as === 'empty' ? empty(page) : { ...page, calls: first, keys: first.map(({ id }) => id) }
    }
    if (as === 'failing')
      service.fails = (operation, asked) =>
        operation === 'list' && Number(asked) >= from ? new ServiceError('server', '504', { status: 504 }) : undefined
    await untilComplete()
    Object.assign(service, { shows: (page: CallPage) => page, fails: () => undefined })
    await clock.advance(900)
    add(`later ${sweep}`, clock.wall() - 20)
  }
  for (let sweep = 0; sweep < 3; sweep++) {
    await untilComplete()
    await clock.advance(900)
  }
  expect(book.state.sync.horizon).toBeGreaterThan(clock.wall() - DAY - 3600)
  const counted = [...book.state.calls.values(), ...book.history.values()]
  return counted.filter(({ id, phase }) => id.startsWith('missed') && phase === 'final').length
}

test.each<[string, Early]>([
  ['an empty page', { from: 2, as: 'empty' }],
  ['an empty page of a list without a total', { says: NO_TOTAL, from: 2, as: 'empty' }],
  ['an empty page of a list whose total counts more', { says: { total: 9001 }, from: 2, as: 'empty' }],
  ['the first page instead of all others', { from: 2, as: 'the first page' }],
  ['a page that fails', { from: 3, as: 'failing' }],
  ['a page that fails, after the last one by an old total', { says: { total: 18 }, from: 3, as: 'failing' }],
])('no call of a long outage is lost if two sweeps after it end at %s', async (_what, early) => {
  expect(await countedAfterOutage(early)).toBe(MISSED)
})
