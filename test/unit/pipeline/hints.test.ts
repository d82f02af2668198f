import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Hint } from '../../../src/ledger/hint.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { readWebhook } from '../../../src/web/hooks.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { running } from './running.ts'

const INTERVAL = 60
const end = (id: string): Hint => ({ id, trigger: 'call_ended' })
const ongoing = (id: string) => seen(id, 'ongoing', { initiatedAt: CREATED, startedAt: CREATED })
const ended = (id: string) => ({ ...ongoing(id), status: 'ended' as const, endedAt: CREATED + 10 })

/** A target that is polled each minute, with some ongoing calls, ten seconds after its first poll. */
async function polledOnce(ids: string[], options: Parameters<typeof running>[0] = {}) {
  const run = await running({ interval: INTERVAL, pageSize: 10, ...options })
  const { service, clock, hints, target } = run
  service.calls = ids.map(ongoing)
  await clock.advance(10)
  service.asked.length = 0
  const isOpen = (id: string) => target.ledger.open.has(id)
  return {
    ...run,
    isOpen,
    end: (...ended_: string[]) => {
      service.calls = service.calls.map((call) => (ended_.includes(call.id) ? ended(call.id) : call))
    },
    announce: (...announced: string[]) => announced.forEach((id) => hints.add(end(id))),
  }
}

test('one tracked call that has ended is requested within a second', async () => {
  const { clock, service, end, announce, isOpen, target } = await polledOnce(['a', 'b'])
  end('a')
  announce('a')
  await clock.advance(1)
  expect([service.asked, isOpen('a'), isOpen('b')]).toEqual([['a'], false, true])
  await clock.advance(20)
  expect(service.asked).toEqual(['a'])
  expect(target.ledger.calls.get('a')?.finish?.status).toBe('ended')
})

test('a call is found by the id of its session with the prefix of the app, in one request, and in a poll with others', async () => {
  const { clock, service, end, hints, isOpen } = await polledOnce(['room', 'hall', 'c', 'd', 'e', 'f'], { pageSize: 2 })
  end('room')
  hints.add({ id: 'v1.eu.app.room', trigger: 'call_ended' })
  await clock.advance(1)
  expect([service.asked, isOpen('room'), isOpen('hall')]).toEqual([['room'], false, true])
  await clock.advance(5)
  end('hall', 'c')
  for (const id of ['v1.eu.app.hall', 'v1.eu.app.c']) hints.add({ id, trigger: 'call_ended' })
  await clock.advance(5)
  expect([isOpen('hall'), isOpen('c'), service.asked.filter((asked) => asked === 'room').length]).toEqual([
    false,
    false,
    1,
  ])
})

test('several ends of a second share one poll', async () => {
  const { clock, service, end, announce, isOpen } = await polledOnce(['a', 'b', 'c'])
  end('a', 'b')
  announce('a')
  await clock.advance(0.3)
  announce('b')
  await clock.advance(1)
  expect([service.asked, isOpen('a'), isOpen('b'), isOpen('c')]).toEqual([[1], false, false, true])
})

test('calls that the first page does not list are found, with few requests', async () => {
  const { clock, service, end, announce, isOpen } = await polledOnce(['a', 'b', 'c', 'd', 'e', 'f', 'g'], {
    pageSize: 2,
  })
  end('f', 'g')
  announce('f', 'g')
  await clock.advance(1)
  expect([isOpen('f'), isOpen('g')]).toEqual([false, false])
  expect(service.asked.length).toBeLessThanOrEqual(5)
})

test('a call that is not tracked is searched in the list, and never counted from its webhook', async () => {
  const { clock, service, announce, book } = await polledOnce([])
  announce('forged')
  await clock.advance(1)
  expect(service.asked).toEqual([1])
  await clock.advance(45)
  // After 2, 5 and 10 s again, and then no more.
  expect([service.asked, book.started()]).toEqual([[1, 1, 1, 1], 0])
})

test('a call that the list shows ten seconds later is found by a later request', async () => {
  const { clock, service, announce, target } = await polledOnce([])
  announce('late')
  await clock.advance(10)
  service.calls = [ended('late')]
  await clock.advance(10)
  expect(target.ledger.calls.get('late')?.phase).toBe('final')
})

test('hints that announce no end cause no request, and share the request for an end', async () => {
  const { clock, service, end, announce, hints, target } = await polledOnce(['a'])
  hints.add({ id: 'new', trigger: 'call_initiated' })
  hints.add({ id: 'a', trigger: 'call_participant_joined' })
  service.calls = [ongoing('new'), ...service.calls]
  await clock.advance(20)
  expect(service.asked).toEqual([])
  end('a')
  announce('a')
  await clock.advance(1)
  expect([service.asked, target.ledger.open.has('new'), target.ledger.open.has('a')]).toEqual([[1], true, false])
})

test('an end that was found already causes no request', async () => {
  const { clock, service, end, announce } = await polledOnce(['a'])
  end('a')
  await clock.advance(INTERVAL)
  service.asked.length = 0
  announce('a')
  await clock.advance(30)
  expect(service.asked).toEqual([])
})

test('a hint that comes during a poll is followed by a request', async () => {
  const { clock, service, end, announce, isOpen } = await polledOnce(['a'])
  const { listCalls } = service.client
  const answers: (() => void)[] = []
  service.client.listCalls = async (page, signal) => {
    const answer = await listCalls(page, signal)
    await new Promise<void>((resolve) => answers.push(resolve))
    return answer
  }
  await clock.advance(INTERVAL - 10)
  expect(answers).toHaveLength(1)
  end('a')
  announce('a')
  await clock.advance(3)
  expect(isOpen('a')).toBe(true)
  for (const answer of answers) answer()
  await clock.advance(1)
  expect([service.asked, isOpen('a')]).toEqual([[1, 'a'], false])
})

test('a poll that is due during a hinted request follows it', async () => {
  const { clock, service, announce, outcomes, skipped } = await polledOnce(['a'])
  const { getCall } = service.client
  service.client.getCall = async (id, signal) => {
    await new Promise<void>((resolve) => clock.scheduler.schedule(() => resolve(), 5000))
    return getCall(id, signal)
  }
  await clock.advance(INTERVAL - 12)
  announce('a')
  await clock.advance(4)
  expect([outcomes(), skipped()]).toEqual([['complete'], 0])
  await clock.advance(4)
  expect([outcomes().length, skipped()]).toEqual([2, 0])
})

test.each(['unanswered', 'rejected', 'cancelled', 'busy'])(
  'a webhook call_%s as it was seen causes one Get Call, which shows the end',
  async (trigger) => {
    const file = new URL(`../service/published/webhook-call_${trigger}.json`, import.meta.url)
    const { webhook } = JSON.parse(readFileSync(file, 'utf8'))
    const { hint } = readWebhook(Buffer.from(JSON.stringify(webhook)))!
    const { clock, service, hints, target } = await polledOnce(['v1.us.app.1', 'b'])
    service.calls = [seen('v1.us.app.1', 'rejected', { initiatedAt: CREATED, endedAt: CREATED + 10 }), ongoing('b')]
    hints.add(hint!)
    await clock.advance(20)
    expect(service.asked).toEqual(['v1.us.app.1'])
    expect(target.ledger.calls.get('v1.us.app.1')?.finish?.status).toBe('rejected')
  },
)

test('hinted requests are at most 45 requests a minute, however many calls end', async () => {
  const ids = Array.from({ length: 120 }, (_, i) => `call-${i}`)
  const { clock, service, end, announce, target } = await polledOnce(ids, { pageSize: 1000, maxRequestsPerMinute: 400 })
  for (const [i, id] of ids.entries()) {
    if (i === 60) service.asked.length = 0
    end(id)
    announce(id)
    await clock.advance(1)
  }
  expect(service.asked.length).toBeLessThanOrEqual(45)
  expect(target.ledger.open.size).toBeLessThanOrEqual(2)
})

test('a thousand hints a second neither stop the polls nor exceed the budget', async () => {
  const { clock, service, hints, outcomes } = await polledOnce(['a'], { maxRequestsPerMinute: 60 })
  for (let second = 0; second < 120; second++) {
    for (let i = 0; i < 1000; i++) hints.add(end(`forged ${second} ${i}`))
    await clock.advance(1)
  }
  expect(service.asked.length).toBeLessThanOrEqual(2 * 45)
  expect(new Set(outcomes())).not.toContain('failed')
  expect(outcomes().length).toBeGreaterThan(2)
})

test('a rate limit pause is not broken, and a failing service gets no hinted requests', async () => {
  const { clock, service, announce, target } = await polledOnce(['a'], { maxRequestsPerMinute: 400 })
  target.rateLimiter.pause(40)
  announce('a')
  await clock.advance(39)
  expect(service.asked).toEqual([])
  await clock.advance(2)
  expect(service.asked).toEqual(['a'])
  service.fails = () => new ServiceError('refused', 'down', { status: 500 })
  await clock.advance(INTERVAL)
  service.asked.length = 0
  announce('b')
  await clock.advance(5)
  expect(service.asked).toEqual([])
})

test('a server that lags behind makes no call lost, and none go back', async () => {
  const { clock, service, announce, target } = await polledOnce(['a', 'b'])
  service.calls = []
  service.known.set('b', seen('b', 'initiated', { initiatedAt: CREATED }))
  announce('a')
  await clock.advance(25)
  announce('b')
  await clock.advance(20)
  expect(service.asked).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'])
  const statuses = ['a', 'b'].map((id) => target.ledger.open.get(id)?.status)
  expect(statuses).toEqual(['ongoing', 'ongoing'])
})

test('a later call of the session that the service shows instead counts, and does not go back', async () => {
  const { clock, service, announce, target, book } = await polledOnce(['a'])
  const began = { session: 'a', initiatedAt: CREATED + 10, startedAt: CREATED + 10 }
  const later = {
    open: seen('cw:later', 'ongoing', began),
    over: seen('cw:later', 'ended', { ...began, endedAt: CREATED + 14 }),
  }
  const phases = () => ['a', 'cw:later'].map((id) => target.ledger.calls.phase(id))
  service.known.set('a', later.open)
  announce('a')
  await clock.advance(1)
  expect([service.asked, phases(), book.started()]).toEqual([['a'], ['open', 'open'], 2])
  service.known.set('a', later.over)
  await clock.advance(4)
  expect([phases(), book.finished()]).toEqual([['open', 'final'], 1])
  service.known.set('a', later.open)
  await clock.advance(20)
  expect([service.asked, phases()]).toEqual([
    ['a', 'a', 'a', 'a'],
    ['open', 'final'],
  ])
  expect(target.ledger.calls.get('cw:later')?.status).toBe('ended')
})

test('a hinted request that is refused is reported, and changes nothing else', async () => {
  const { clock, service, announce, events, isOpen, reports, target } = await polledOnce(['a'])
  service.fails = (operation) => (operation === 'get' ? new ServiceError('refused', 'no', { status: 400 }) : undefined)
  announce('a')
  await clock.advance(1)
  const [hinted] = events.flatMap((event) => (event.kind === 'hinted' ? [event] : []))
  expect(hinted?.requests.map(({ operation, code }) => [operation, code])).toEqual([['get_call', '400']])
  expect([isOpen('a'), reports().length]).toEqual([true, 1])
  expect(target.record.current().requestsLastMinute - reports()[0]!.requests.length).toBe(1)
})

test('hinted requests end when the pipeline is draining', async () => {
  const { clock, service, announce, draining$, isCompleted } = await polledOnce(['a'])
  announce('a')
  draining$.next()
  await clock.advance(5)
  expect([service.asked, isCompleted()]).toEqual([[], true])
})

test('an answer to a hinted request that cannot be read is in the status, and in its event', async () => {
  const mask = (text: string) => text.replace('k3y', '********')
  const { service, clock, announce, target, events, end } = await polledOnce(['a'], { mask })
  const problem = 'the service answered 500 ERR: unknown key ********'
  service.fails = (operation) =>
    operation === 'get' ? new ServiceError('invalid', problem.replace('********', 'k3y')) : undefined
  end('a')
  announce('a')
  await clock.advance(1)
  const hinted = { singleCalls: { answered: 0, problem }, requests: [{ code: 'invalid' }] }
  expect(events.findLast(({ kind }) => kind === 'hinted')).toMatchObject(hinted)
  expect(target.health()).toMatchObject({ successful: true, problem })
  service.fails = () => undefined
  await clock.advance(2)
  expect(target.health().problem).toBeUndefined()
})
