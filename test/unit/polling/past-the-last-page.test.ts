import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/service/service-error.ts'
import { numbered, polling } from './polling.ts'

/** How a service answers a page past the last one. */
const NOT_FOUND = new ServiceError('not_found', 'no such page', { status: 404 })
const OUT_OF_RANGE = new ServiceError('refused', 'page out of range', { status: 400 })
const NO_LIST = new ServiceError('invalid', 'no list')
const FORMS = new Map<string, ServiceError | 'empty' | 'clamped'>([
  ['an empty page', 'empty'],
  ['the last page', 'clamped'],
  ['404', NOT_FOUND],
  ['400', OUT_OF_RANGE],
  ['500', new ServiceError('server', 'an error', { status: 500 })],
  ['200 and an error', NO_LIST],
  ['a reset', new ServiceError('network', 'connection reset')],
])
const CASES = [...FORMS.keys()].flatMap((form) =>
  ['newest first', 'oldest first'].flatMap((order) =>
    ['with a total', 'without one'].map((total) => ({ form, order, total })),
  ),
)

/** A list that is answered like that, in pages of ten. */
function answering({ form, order, total }: (typeof CASES)[number], options: Parameters<typeof polling>[0] = {}) {
  const world = polling({ pageSize: 10, lookback: 100_000, slice: 4, sweepInterval: 300, ...options })
  const { service, newest, poll, book, clock } = world
  let calls = numbered(1, 37)
  const last = () => Math.max(1, Math.ceil(calls.length / 10))
  service.fails = (_operation, page) => {
    const answer = FORMS.get(form)
    return answer instanceof ServiceError && Number(page) > last() ? answer : undefined
  }
  if (total === 'without one') service.says = { total: undefined, totalPages: undefined }
  const { listCalls } = service.client
  if (FORMS.get(form) === 'clamped')
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(Math.min(page, last()), signal)), page })
  const list = (now: typeof calls) => {
    calls = now
    service.calls = order === 'newest first' ? now : now.toReversed()
  }
  /** Calls come in; the number of polls until one is successful, six at most. */
  const comeIn = async (count: number) => {
    await clock.advance(count)
    const latest = newest()
    list([...numbered(latest, latest + count - 1), ...calls])
    return polls()
  }
  const polls = async () => {
    for (let n = 1; n <= 6; n++) if ((await poll()).success !== undefined) return n
    return Infinity
  }
  return { ...world, calls: () => calls, list, comeIn, polls, finished: book.finished }
}

describe.each(CASES)('a page past the last one of a list $order, $total, that is answered with $form', (world) => {
  test.each([37, 40, 97])('keeps no initial sync of %i calls from its end', async (size) => {
    const { list, polls, tracked } = answering(world)
    list(numbered(1, size))
    const error = FORMS.get(world.form)
    const isKnown = world.order === 'oldest first' || world.total === 'with a total' || size % 10 !== 0
    const attempts =
      isKnown || !(error instanceof ServiceError) || error.status === 404 ? 1 : error.status === 400 ? 2 : 5
    expect(await polls()).toBe(attempts)
    expect(tracked()).toBe(size)
  })

  test('keeps no poll from success, and hides no call', async () => {
    const { comeIn, list, polls, poll, clock, finished, calls } = answering(world)
    list(calls())
    await polls()
    await clock.advance(600)
    for (let n = 0; n < 6; n++) await poll()
    let added = 0
    for (const count of [0, 3, 1, 9, 0, 34, 2, 71, 0]) {
      expect(await comeIn(count)).toBe(1)
      expect(finished()).toBe((added += count))
    }
  })

  test('hides no call of a list that has got shorter', async () => {
    const { comeIn, list, polls, clock, poll, finished } = answering(world)
    list(numbered(1, 97))
    await polls()
    await clock.advance(600)
    for (let n = 0; n < 6; n++) await poll()
    list(numbered(1, 32))
    expect(await polls()).toBeLessThan(4)
    for (const count of [2, 13]) await comeIn(count)
    expect(finished()).toBe(15)
  })
})

test.each<[string, ServiceError]>([
  ['404', NOT_FOUND],
  ['400', OUT_OF_RANGE],
])('a first page that is answered with %s is a failure', async (_status, problem) => {
  const { service, poll } = polling()
  service.fails = () => problem
  const { success, problem: found } = await poll()
  expect([success, found, service.asked]).toEqual([undefined, problem, [1]])
})

test.each<[string, ServiceError]>([
  ['404, though a total says that the list has it', NOT_FOUND],
  ['503', new ServiceError('server', 'it is down', { status: 503 })],
  ['no list', NO_LIST],
])('a page in the middle that is answered with %s is a failure, not the end of the list', async (_what, problem) => {
  const { service, poll, next, tracked } = polling()
  service.calls = numbered(1, 12)
  service.fails = (_operation, page) => (page === 2 ? problem : undefined)
  expect((await poll()).problem).toBe(problem)
  expect(service.asked).toEqual([1, 2])
  service.fails = () => undefined
  await next()
  expect(tracked()).toBe(12)
})
