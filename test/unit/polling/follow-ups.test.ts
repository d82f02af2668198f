import { AbortedError } from '../../../src/rx/abortable.ts'
import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { newLedger } from '../../../src/ledger/state.ts'
import { chooseFollowUps, followUps, type RequestedAt } from '../../../src/polling/follow-ups.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'
import { fakeService } from './fake-service.ts'

const BOUNDS = { interval: 15, sweepInterval: 900 }

function openCalls(...began: [id: string, secondsAgo: number][]) {
  const book = ledgerBook()
  book.see(completePoll(0, ...began.map(([id, ago]) => seen(id, 'ongoing', { initiatedAt: CREATED - ago }))))
  return book.state
}

describe('the follow-ups of a poll', () => {
  test('are the open calls that were not listed', () => {
    const state = openCalls(['listed', 5], ['unlisted', 5])
    const chosen = chooseFollowUps(state, new Set(['listed']), new Map(), { now: CREATED, monotonic: 0 }, BOUNDS)
    expect(chosen.map(({ id }) => id)).toEqual(['unlisted'])
  })

  test('request a young call in every poll, an old one less often, and each at least once a sweep interval', () => {
    const state = openCalls(['young', 10], ['hours old', 7200], ['days old', 500_000])
    const requestedAt: RequestedAt = new Map()
    const times: Record<string, number[]> = {}
    for (let second = 0; second <= 1800; second += 15) {
      const chosen = chooseFollowUps(state, new Set(), requestedAt, { now: CREATED, monotonic: second }, BOUNDS)
      for (const { id } of chosen) {
        requestedAt.set(id, second)
        ;(times[id] ??= []).push(second)
      }
    }
    expect(times['young']).toHaveLength(121)
    expect(times['hours old']).toEqual([0, 360, 720, 1080, 1440, 1800])
    expect(times['days old']).toEqual([0, 900, 1800])
  })

  test('begin with the call that has waited longest if the limit allows only some', () => {
    const state = openCalls(['a', 1], ['b', 1], ['c', 1])
    const requestedAt: RequestedAt = new Map()
    const choose = (monotonic: number) => {
      const times = { now: CREATED, monotonic }
      const chosen = chooseFollowUps(state, new Set(), requestedAt, times, BOUNDS)
      const ids = chosen.slice(0, 2).map(({ id }) => id)
      for (const id of ids) requestedAt.set(id, monotonic)
      return ids
    }
    expect([choose(0), choose(15), choose(30)]).toEqual([
      ['a', 'b'],
      ['c', 'a'],
      ['b', 'a'],
    ])
  })

  test('never request an id that would name another resource', () => {
    const state = openCalls(['.', 1], ['..', 1], ['...', 1])
    const chosen = chooseFollowUps(state, new Set(), new Map(), { now: CREATED, monotonic: 0 }, BOUNDS)
    expect(chosen.map(({ id }) => id)).toEqual(['...'])
  })

  test('are forgotten once a call is no longer open', () => {
    const requestedAt: RequestedAt = new Map([['gone', 1]])
    chooseFollowUps(newLedger(CREATED), new Set(), requestedAt, { now: CREATED, monotonic: 0 }, BOUNDS)
    expect(requestedAt.size).toBe(0)
  })
})

describe('the answers to follow-ups', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']

  async function ask(known: string[], control: string[], fails?: (id: string) => ServiceError | undefined) {
    const service = fakeService(virtualClock(CREATED))
    service.calls = known.map((id) => seen(id, 'ongoing'))
    if (fails) service.fails = (_operation, id) => fails(String(id))
    const problems: ServiceError[] = []
    const state = openCalls(...ids.map((id): [string, number] => [id, 1]))
    const { signal } = new AbortController()
    const fetchCalls = (session: string) => service.client.getCall(session, signal)
    let distrusted = false
    const answers = await followUps([...state.open.values()], new Set(control), {
      fetchCalls,
      aborted: signal,
      wall: () => CREATED,
      onProblem: (problem) => problems.push(problem),
      onDistrust: () => (distrusted = true),
    })
    const notFound = answers.flatMap((answer) => answer.notFound)
    const found = answers.flatMap(({ calls }) => calls.map(({ id }) => id))
    return { notFound, found, problems, distrusted, asked: service.asked }
  }

  test('count a few unknown calls as unknown', async () => {
    const { notFound, found, asked } = await ask(['a', 'b', 'c', 'listed'], ['.', 'listed'])
    expect(found).toEqual(['a', 'b', 'c'])
    expect(notFound).toEqual(['d', 'e', 'f'])
    expect(asked).not.toContain('listed')
  })

  test('count if most calls are unknown, but the service knows a listed call that is requested as a control', async () => {
    const { notFound, asked } = await ask(['a', 'b', 'listed'], ['.', 'listed'])
    expect(asked).toContain('listed')
    expect(notFound).toEqual(['c', 'd', 'e', 'f'])
  })

  test.each([
    ['the control call is unknown as well', ['not there']],
    ['nothing was listed', []],
    ['nothing was listed that can be requested', ['.', '..']],
  ])('are dropped if most calls are unknown and %s', async (_what, control) => {
    const { notFound, found, problems, distrusted } = await ask(['a'], control)
    expect(notFound).toEqual([])
    expect(found).toEqual(['a'])
    expect(problems).toHaveLength(1)
    expect(distrusted).toBe(true)
  })

  test('are dropped if most calls are unknown and the control call cannot be read, which is the problem then', async () => {
    const unreadable = (id: string) => (id === 'listed' ? new ServiceError('invalid', 'without a call') : undefined)
    const { found, notFound, problems, distrusted } = await ask(['a', 'listed'], ['listed'], unreadable)
    expect([found, notFound, distrusted]).toEqual([['a'], [], true])
    expect(problems[0]?.message).toBe('without a call')
  })

  test('are dropped if most calls are unknown and the poll is aborted before the control call is answered', async () => {
    const known = { serviceTime: CREATED, hostTime: CREATED, limit: undefined, calls: [seen('a', 'ongoing')] }
    const stop = new AbortController()
    const fetchCalls = async (id: string) => {
      if (id === 'a') return known
      if (id !== 'listed') throw new ServiceError('not_found', 'unknown', { status: 404 })
      stop.abort()
      throw new AbortedError()
    }
    const calls = [...openCalls(...ids.map((id): [string, number] => [id, 1])).open.values()]
    const notified = { onProblem: () => undefined, onDistrust: () => expect.unreachable() }
    const asking = { fetchCalls, aborted: stop.signal, wall: () => CREATED, ...notified }
    const answers = await followUps(calls, new Set(['listed']), asking)
    expect(answers.map(({ calls, notFound }) => [calls.map(({ id }) => id), notFound])).toEqual([[['a'], []]])
  })

  test('say nothing of a call if they show another one of its session', async () => {
    const another = { ...seen('another', 'ongoing'), session: 'a' }
    const answer = (calls: SeenCall[]) => ({ serviceTime: CREATED, hostTime: CREATED, limit: undefined, calls })
    const state = openCalls(['a', 1])
    const notFound = async (calls: SeenCall[]) => {
      const [answered] = await followUps([...state.open.values()], new Map(), {
        fetchCalls: async () => answer(calls),
        aborted: new AbortController().signal,
        wall: () => CREATED,
        onProblem: () => undefined,
        onDistrust: () => undefined,
      })
      return answered!.notFound
    }
    expect([await notFound([another]), await notFound([])]).toEqual([[], ['a']])
  })

  test('count although the request for one call fails', async () => {
    const down = (id: string) => (id === 'b' ? new ServiceError('server', 'it is down', { status: 500 }) : undefined)
    const { found, notFound, problems } = await ask(ids, [], down)
    expect(found).toEqual(['a', 'c', 'd', 'e', 'f'])
    expect(notFound).toEqual([])
    expect(problems.map(({ kind }) => kind)).toEqual(['server'])
  })
})
