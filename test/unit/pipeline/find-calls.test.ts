import { describe, expect, onTestFinished, test } from 'vitest'
import { sleep, systemClock } from '../../../src/clock/clock.ts'
import { findCalls, spare, type FindOptions } from '../../../src/pipeline/find-calls.ts'
import { newRateLimiter, UNLIMITED } from '../../../src/polling/rate-limiter.ts'
import type { Transport } from '../../../src/service/transport.ts'
import { answer } from '../../../src/simulator/answers/answer.ts'
import { takesPart, type Call } from '../../../src/simulator/calls/call.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { serviceOf, START } from '../../kit/world/request-service.ts'
import { setSwitches } from '../../kit/world/start-world.ts'
import { defaultSwitches, type Switches } from '../../kit/world/switches.ts'

const service = serviceOf({ history: 2000, historySeconds: 4 * 86_400 })
const calls = service.world.listing.map(({ call }) => call)
const users = [...new Set(calls.flatMap(({ participants }) => participants.map(({ uid }) => uid)))]
const groups = [...new Set(calls.flatMap(({ receiverType, receiver }) => (receiverType === 'group' ? receiver : [])))]
const TWO_DAYS_AGO = START - 2 * 86_400

function behave(switches: Partial<Switches>): void {
  setSwitches(service, { ...switches, perPage: 1000 })
  onTestFinished(() => setSwitches(service, { ...defaultSwitches, perPage: 1000 }))
}

/** Options that search the service, and the paths that were requested. @param change of each row of its answers */
function searching(more: Partial<FindOptions> = {}, change: (row: Call) => object = (row) => row) {
  const paths: string[] = []
  const send: Transport = async ({ method, path, headers }) => {
    paths.push(path)
    const [name = '', query = ''] = path.split('?')
    const { reply } = answer(service, { method, path: `/v3${name}`, query, headers }, START)
    const body = JSON.parse(reply.body)
    if (Array.isArray(body.data)) body.data = body.data.map(change)
    return { ...reply, body: JSON.stringify(body) }
  }
  const client = { baseUrl: 'https://app.call-eu.cometchat.io/v3', apiKey: service.keys.fullAccess, query: {} }
  const given = { ...client, pageSize: 100, statusMap: {}, wall: () => START }
  const asking = { timeout: 10, retries: 0, random: () => 0, onRequest: () => undefined }
  const options: FindOptions = {
    send,
    client: given,
    asking: { ...asking, clock: systemClock, rateLimiter: UNLIMITED },
    since: TWO_DAYS_AGO,
    ...more,
  }
  return { options, paths }
}

/** What became of the calls themselves, newest first. */
const known = (isOwn: (call: Call) => boolean, since = TWO_DAYS_AGO) =>
  calls
    .filter((call) => call.initiatedAt! >= since && isOwn(call))
    .toSorted((a, b) => b.initiatedAt! - a.initiatedAt!)
    .map(({ sessionId }) => sessionId)

const sessionsOf = (found: { calls: readonly { session: string }[] }) => found.calls.map(({ session }) => session)

test.each(
  (['honoured', 'ignored', 'refused'] as const).flatMap((filter) =>
    (['newest', 'oldest'] as const).map((order) => [filter, order] as const),
  ),
)(
  'where filters are %s and the list has the %s first, the calls of each user and group are found among 2000',
  async (peopleFilters, order) => {
    behave({ peopleFilters, order })
    expect([users.length > 300, groups.length > 5]).toEqual([true, true])
    for (const uid of users.slice(0, 5)) {
      const { options, paths } = searching()
      const found = await findCalls({ uid }, options)
      expect(sessionsOf(found)).toEqual(known((call) => takesPart(call, uid)))
      expect(found).toMatchObject({ filter: peopleFilters, unclear: 0, isWhole: true })
      expect(paths.length).toBeLessThanOrEqual(peopleFilters === 'honoured' ? 1 : 14)
    }
    for (const guid of groups.slice(0, 2)) {
      const found = await findCalls({ guid }, searching().options)
      expect(sessionsOf(found)).toEqual(known(({ receiver }) => receiver === guid))
      expect(found.filter).toBe(peopleFilters)
    }
  },
)

test.each(['newest', 'oldest'] as const)(
  'of a list that is longer than 20 pages, with the %s first, the newest calls are read, and the search is not complete',
  async (order) => {
    behave({ peopleFilters: 'ignored', order })
    const [uid = ''] = users
    const { options, paths } = searching({ since: 0 })
    const pages: (number | undefined)[][] = []
    const client = { ...options.client, pageSize: 50 }
    const found = await findCalls({ uid }, { ...options, client, onPage: (...page) => pages.push(page) })
    expect(found.isWhole).toBe(false)
    expect(paths).toHaveLength(20)
    expect(pages.at(0)).toEqual([1, undefined])
    expect(pages.at(-1)).toEqual([20, 20])
    const newest = known((call) => takesPart(call, uid), START - 1.7 * 86_400)
    expect(newest.length).toBeGreaterThan(0)
    expect(sessionsOf(found).slice(0, newest.length)).toEqual(newest)
  },
)

test('calls that began after the period are left out', async () => {
  behave({ peopleFilters: 'honoured' })
  const [uid = ''] = users
  const before = START - 86_400
  const found = await findCalls({ uid }, searching({ before }).options)
  const earlier = known((call) => takesPart(call, uid) && call.initiatedAt! < before)
  expect(earlier.length).toBeLessThan(known((call) => takesPart(call, uid)).length)
  expect(sessionsOf(found)).toEqual(earlier)
})

test('a list without a total is read until it ends', async () => {
  behave({ peopleFilters: 'ignored', total: 'absent' })
  const [uid = ''] = users
  const { options } = searching({ since: 0 })
  const found = await findCalls({ uid }, { ...options, client: { ...options.client, pageSize: 400 } })
  expect(sessionsOf(found)).toEqual(known((call) => takesPart(call, uid), 0))
  expect(found.isWhole).toBe(true)
})

describe('calls of a list that do not say who took part', () => {
  const withoutPeople = ({ participants: _participants, ...row }: Call) => row
  const [group = ''] = groups
  const uid = calls.findLast(({ receiver }) => receiver === group)!.participants.at(-1)!.uid
  const isGroup = ({ receiverType }: Call) => receiverType === 'group'

  test('are those of the user where the service filters', async () => {
    behave({ peopleFilters: 'honoured' })
    const found = await findCalls({ uid }, searching({}, withoutPeople).options)
    expect(found).toMatchObject({ filter: 'honoured', unclear: 0 })
    expect(sessionsOf(found)).toEqual(known((call) => takesPart(call, uid)))
  })

  test('are counted and left out where it does not', async () => {
    behave({ peopleFilters: 'ignored' })
    const found = await findCalls({ uid }, searching({}, withoutPeople).options)
    const own = known((call) => call.initiator === uid || (call.receiver === uid && !isGroup(call)))
    expect(sessionsOf(found)).toEqual(own)
    expect(found).toMatchObject({
      filter: 'ignored',
      unclear: known((call) => isGroup(call) && call.initiator !== uid).length,
    })
  })
})

test('a session is requested by its id, whenever it was; one that the service does not know has no calls', async () => {
  const { sessionId, initiator, participants } = calls[0]!
  const { options, paths } = searching()
  const found = await findCalls({ session: sessionId }, options)
  expect(found).toMatchObject({
    filter: 'none',
    isWhole: true,
    calls: [{ session: sessionId, parties: { initiator } }],
  })
  expect(found.calls[0]!.participants).toHaveLength(participants.length)
  expect(await findCalls({ session: 'none' }, options)).toMatchObject({ calls: [], isWhole: true })
  // By both forms of the id.
  expect(paths.slice(1)).toEqual(['/calls/none', '/calls/v1.eu.app.none'])
})

describe('the other answers of the service', () => {
  const [uid = ''] = users
  const refusing = (from: number, status: number, code: string) => {
    const { options } = searching({ since: 0 })
    const { send } = options
    let requests = 0
    const refused: Transport = async (...request) => {
      requests += 1
      const answered = await send(...request)
      return requests < from ? answered : { ...answered, status, body: JSON.stringify({ error: { code } }) }
    }
    return { ...options, client: { ...options.client, pageSize: 50 }, send: refused }
  }

  test.each([
    [400, 'ERR_BAD_REQUEST'],
    [503, 'ERR_UNAVAILABLE'],
  ])(
    'what was read before a page is answered with %d is found, and the search is not complete',
    async (status, code) => {
      behave({ peopleFilters: 'ignored' })
      const found = await findCalls({ uid }, refusing(4, status, code))
      const newest = calls.toSorted((a, b) => b.initiatedAt! - a.initiatedAt!).slice(0, 150)
      expect(found).toMatchObject({ filter: 'ignored', isWhole: false })
      expect(sessionsOf(found)).toEqual(known((call) => newest.includes(call) && takesPart(call, uid), 0))
    },
  )

  test('a user whom the service does not have is no filter that it refuses', async () => {
    const search = findCalls({ uid: 'nobody' }, refusing(1, 404, 'ERR_UID_NOT_FOUND'))
    await expect(search).rejects.toThrow('the service has no such user; check the id (the service answered 404')
  })

  test('the meetings of a room that keeps the time at which it was opened first are found, each by its own start', async () => {
    behave({ peopleFilters: 'honoured' })
    const opened = START - 9 * 86_400
    const room = { mode: 'meet', sessionId: 'room', initiatedAt: opened }
    const found = await findCalls({ uid }, searching({}, (row) => ({ ...row, ...room, mid: undefined })).options)
    expect(found.calls).toHaveLength(known((call) => takesPart(call, uid) && call.startedAt !== undefined).length)
    expect(found.calls.length).toBeGreaterThan(1)
  })

  test('a service that does not answer is not taken for polls that leave no request', async () => {
    const ended = new AbortController()
    const { options } = searching({ until: ended.signal })
    const send: Transport = async () => {
      ended.abort()
      return new Promise(() => undefined)
    }
    await expect(findCalls({ uid }, { ...options, send })).rejects.toThrow('the service did not answer in time')
  })
})

test('what was read when a search is ended is found; a search that is ended before fails with a sentence', async () => {
  behave({ peopleFilters: 'ignored' })
  const [uid = ''] = users
  const ended = new AbortController()
  const onPage = (page: number) => void (page === 3 && ended.abort())
  const found = await findCalls({ uid }, searching({ until: ended.signal, onPage, since: 0 }).options)
  expect(found.isWhole).toBe(false)
  const newest = known(
    (call) => takesPart(call, uid),
    calls.toSorted((a, b) => b.initiatedAt! - a.initiatedAt!)[199]!.initiatedAt,
  )
  expect(sessionsOf(found)).toEqual(newest)
  const { options } = searching({ until: ended.signal })
  await expect(findCalls({ uid }, options)).rejects.toThrow('polls left no request for this search')
})

test('a search has the requests that polls leave, and no minute has more than the limit', async () => {
  const clock = virtualClock(START)
  const maxRequestsPerMinute = 60
  const limits = { clock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined }
  const rateLimiter = newRateLimiter(limits)
  const taken: { at: number; waited: number; by: 'poll' | 'search' }[] = []
  const take = async (by: 'poll' | 'search', limiter: Pick<typeof rateLimiter, 'take'>) => {
    const began = clock.monotonic()
    await limiter.take(new AbortController().signal)
    taken.push({ at: clock.monotonic(), waited: clock.monotonic() - began, by })
  }
  // A poll of four requests each ten seconds; the search would take whatever it gets.
  const poll = async () => {
    for (;;) {
      for (let count = 0; count < 4; count++) await take('poll', rateLimiter)
      await sleep(clock, 10)
    }
  }
  const search = async () => {
    for (;;) await take('search', spare(rateLimiter, clock))
  }
  void poll()
  await clock.advance(30)
  void search()
  await clock.advance(600)
  const of = (by: string) => taken.filter((one) => one.by === by && one.at > 30)
  const inMinute = taken.map(({ at }) => taken.filter((other) => other.at > at - 60 && other.at <= at).length)
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(maxRequestsPerMinute)
  expect(of('search').length).toBeGreaterThan(100)
  // Two of the four are in the half of the burst that a search leaves.
  expect(Math.max(...of('poll').map(({ waited }) => waited))).toBeLessThan(2)
  expect(of('poll').length).toBeGreaterThan(180)
})
