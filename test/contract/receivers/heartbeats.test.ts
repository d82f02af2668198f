import type { RequestListener } from 'node:http'
import { Subject } from 'rxjs'
import { expect, test, vi } from 'vitest'
import type { Delivery } from '../../../src/notifications/delivery/deliver.ts'
import { SECRET, withReceivers } from '../../kit/notifications/receiver.ts'
import { refreshing } from '../../kit/notifications/receivers/refreshing.ts'
import { heartbeats } from '../../../src/notifications/receivers/heartbeat/heartbeats.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const INTERVAL = 60
const SENT = { receiver: 'heartbeat', outcome: 'sent' }

const opening = withReceivers()

/** A heart that beats against a server on loopback, on the virtual clock. */
async function beating(answer: RequestListener) {
  const asked: (string | undefined)[] = []
  const { url } = await opening.open((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  const clock = virtualClock()
  const draining$ = new Subject<void>()
  const beats: Delivery[] = []
  const state = { isWorking: (): boolean => true, completed: false }
  const receiver = { name: 'heartbeat', refresh: heartbeats({ url, clock }) }
  const beating$ = refreshing(receiver, { isWorking: () => state.isWorking() }, { clock, draining$ })
  beating$.subscribe({ next: (beat) => beats.push(beat), complete: () => (state.completed = true) })
  /** Advances the clock to the next possible beat, and waits until so many beats have ended. */
  const beat = async (expected: number) => {
    await clock.advance(beats.length === 0 ? 0 : INTERVAL)
    await vi.waitFor(() => expect(beats).toHaveLength(expected))
  }
  return { asked, clock, draining$, beats, state, beat }
}

test('the address is called once a minute', async () => {
  const { asked, beats, beat, clock } = await beating((_request, response) => void response.end('OK'))
  await beat(1)
  await beat(2)
  await clock.advance(INTERVAL - 0.1)
  expect(asked).toEqual([`GET /services/${SECRET}`, `GET /services/${SECRET}`])
  expect(beats).toEqual([SENT, SENT])
})

test('it is not called while callwatch does not work', async () => {
  const { asked, state, beat, clock } = await beating((_request, response) => void response.end())
  await beat(1)
  state.isWorking = () => false
  await clock.advance(10 * INTERVAL)
  state.isWorking = () => true
  await beat(2)
  expect(asked).toHaveLength(2)
})

test.each([
  [404, {}, 'the heartbeat URL refused the message with 404'],
  [503, {}, 'the heartbeat URL answered 503'],
  [302, { location: '/login' }, 'the heartbeat URL answered 302, a redirect, which is not followed'],
])('an answer of %d is a failure without the URL, and the beat is sent again', async (status, headers, problem) => {
  let fails = true
  const { asked, beats, beat } = await beating((request, response) => {
    if (fails) response.writeHead(status, headers).write(`no such thing as ${request.url}`)
    response.end()
  })
  await beat(1)
  fails = false
  await beat(2)
  const retryIn = status === 404 ? 60 : 1
  expect(beats).toEqual([{ receiver: 'heartbeat', outcome: 'retried', problem, mayHaveArrived: false, retryIn }, SENT])
  expect(asked).toHaveLength(2)
})

test('an address that hangs is called by one at a time, and given up after 8 seconds', async () => {
  const { asked, beats, clock } = await beating(() => undefined)
  await clock.advance(0)
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  await clock.advance(7.9)
  expect(beats).toEqual([])
  await clock.advance(0.1)
  await vi.waitFor(() => expect(beats).toHaveLength(1))
  expect(beats).toMatchObject([{ outcome: 'retried', problem: 'the heartbeat URL did not answer within 8 s' }])
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  await vi.waitFor(() => expect(asked).toHaveLength(2))
})

test('an error while asking whether it works is a failed beat', async () => {
  const { state, beats, beat } = await beating((_request, response) => void response.end())
  state.isWorking = () => {
    throw new TypeError('no targets')
  }
  await beat(1)
  state.isWorking = () => true
  await beat(2)
  expect(beats).toMatchObject([{ outcome: 'retried', error: new TypeError('no targets') }, SENT])
})

test('there is no further beat when it is to stop', async () => {
  const { asked, state, beat, clock, draining$ } = await beating((_request, response) => void response.end())
  await beat(1)
  draining$.next()
  await clock.advance(10 * INTERVAL)
  expect([asked.length, state.completed]).toEqual([1, true])
})
