import { Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { deliverOutbox, type Delivery } from '../../src/notify/deliver-outbox.ts'
import { DeliveryError } from '../../src/notify/notifier.ts'
import { StoreError, type OutboxEntry } from '../../src/store/store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { AT, FIRING, RESOLVED } from './sample.ts'

/** What the receiver makes of a delivery: an error that it rejects with, or nothing. */
type Receive = (alert: string, attempt: number) => Error | Promise<void> | undefined

const refuse = () => Promise.reject(new StoreError('unavailable', 'the store is busy'))

/** An outbox of the notifier `test`, its sender on the virtual clock, and a receiver that writes down what comes. */
function sending(receive: Receive = () => undefined, { groupWait = 0 } = {}) {
  const clock = virtualClock(AT)
  const stop$ = new Subject<void>()
  const outbox: OutboxEntry[] = []
  const received: [alert: string, second: number][] = []
  const deliveries: Delivery[] = []
  const removed: number[] = []
  const broken = { read: false, write: false }
  let completed = false
  let ids = 0
  deliverOutbox(
    {
      name: 'test',
      deliver: async ({ alert }) => {
        received.push([alert, clock.monotonic()])
        const answer = receive(alert, received.filter(([name]) => name === alert).length)
        if (answer instanceof Error) throw answer
        await answer
      },
    },
    {
      clock,
      groupWait,
      stop$,
      store: {
        nextOutboxEntry: async (notifier) =>
          broken.read ? refuse() : outbox.find((entry) => entry.notifier === notifier),
        removeOutboxEntry: async (id) => {
          if (broken.write) await refuse()
          removed.push(id)
          const index = outbox.findIndex((entry) => entry.id === id)
          if (index !== -1) outbox.splice(index, 1)
        },
      },
    },
  ).subscribe({ next: (delivery) => deliveries.push(delivery), complete: () => (completed = true) })
  return {
    clock,
    stop$,
    outbox,
    received,
    deliveries,
    removed,
    broken,
    put: (alert: string, notification: Notification = RESOLVED, notifier = 'test') =>
      void outbox.push({ id: ++ids, notifier, notification: { ...notification, alert, at: clock.wall() } }),
    outcomes: () => deliveries.map(({ outcome, notification }) => `${notification.alert} ${outcome}`),
    isCompleted: () => completed,
  }
}

const retry = (retryAfter?: number) => new DeliveryError('it answered 503', { retryable: true, retryAfter })
const refusal = new DeliveryError('it refused', { retryable: false })

test('what waits is sent in order, one a second, and leaves the outbox', async () => {
  const { put, clock, received, outbox, removed, outcomes } = sending()
  for (const alert of ['a', 'b', 'c']) put(alert)
  await clock.advance(1.5)
  expect(received).toEqual([
    ['a', 0],
    ['b', 1],
  ])
  await clock.advance(1)
  put('d')
  await clock.advance(10)
  expect(received.slice(2)).toEqual([
    ['c', 2],
    ['d', 3],
  ])
  expect(outcomes()).toEqual(['a sent', 'b sent', 'c sent', 'd sent'])
  expect([outbox, removed]).toEqual([[], [1, 2, 3, 4]])
})

test('what waits for another notifier is left to it', async () => {
  const { put, clock, received, outbox } = sending()
  put('theirs', RESOLVED, 'other')
  put('ours')
  await clock.advance(5)
  expect(received).toEqual([['ours', 0]])
  expect(outbox).toMatchObject([{ notifier: 'other' }])
})

test('a delivery says what was sent by whom', async () => {
  const { put, clock, deliveries } = sending()
  put('a')
  await clock.advance(0)
  expect(deliveries).toEqual([{ notifier: 'test', notification: { ...RESOLVED, alert: 'a', at: AT }, outcome: 'sent' }])
})

test('a slow receiver is never given two at once', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const { put, clock, received } = sending(() => promise)
  put('a')
  put('b')
  await clock.advance(30)
  expect(received).toEqual([['a', 0]])
  release()
  await clock.advance(1)
  expect(received.slice(1)).toEqual([['b', 31]])
})

describe('a receiver that fails', () => {
  test('is asked again after the wait that it asked for, and what comes later waits behind', async () => {
    const { put, clock, received, outcomes, deliveries } = sending((_alert, attempt) =>
      attempt === 1 ? retry(45) : undefined,
    )
    put('a')
    await clock.advance(44.5)
    put('b')
    expect(received).toEqual([['a', 0]])
    await clock.advance(5)
    expect(received.slice(1, 3)).toEqual([
      ['a', 45],
      ['b', 46],
    ])
    expect(outcomes()).toEqual(['a retried', 'a sent', 'b retried'])
    expect(deliveries[0]!.problem).toBe('it answered 503')
  })

  test('is asked after longer and longer waits, up to five minutes, and loses nothing', async () => {
    const { put, clock, received, outbox } = sending(() => retry())
    put('a')
    await clock.advance(2000)
    const times = received.map(([, second]) => second)
    expect(times.slice(1).map((second, i) => second - times[i]!)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300,
    ])
    expect(outbox).toHaveLength(1)
  })

  test('is asked quickly again when it fails anew after it had worked', async () => {
    const { put, clock, received } = sending((alert, attempt) =>
      attempt <= (alert === 'a' ? 5 : 1) ? retry() : undefined,
    )
    put('a')
    put('b')
    await clock.advance(40)
    expect(received.slice(5)).toEqual([
      ['a', 31],
      ['b', 32],
      ['b', 33],
    ])
  })

  test.each([Infinity, 1e9])('and asks for a wait of %d s is asked again after an hour', async (seconds) => {
    const { put, clock, received } = sending((_alert, attempt) => (attempt === 1 ? retry(seconds) : undefined))
    put('a')
    await clock.advance(3599)
    expect(received).toHaveLength(1)
    await clock.advance(1)
    expect(received).toHaveLength(2)
  })

  test('waits by the time that passes, not by the clock on the wall', async () => {
    const { put, clock, received } = sending((_alert, attempt) => (attempt === 1 ? retry(10) : undefined))
    put('a')
    await clock.advance(1)
    clock.stepWall(86_400)
    await clock.advance(8)
    expect(received).toHaveLength(1)
    clock.stepWall(-7 * 86_400)
    await clock.advance(1)
    expect(received).toHaveLength(2)
  })
})

describe('what can never be delivered', () => {
  test.each([
    ['refused for good', refusal, 'it refused'],
    ['failing in a way that nobody foresaw', new TypeError('no counts'), 'no counts'],
  ])('is dropped, and blocks nothing: %s', async (_case, error, problem) => {
    const { put, clock, received, outcomes, deliveries, outbox } = sending((alert) =>
      alert === 'a' ? error : undefined,
    )
    put('a')
    put('b')
    await clock.advance(5)
    expect(received).toEqual([
      ['a', 0],
      ['b', 1],
    ])
    expect(outcomes()).toEqual(['a dropped', 'b sent'])
    expect(deliveries[0]!.problem).toBe(problem)
    expect(outbox).toEqual([])
  })

  test('shows that the receiver answers: the next failure waits a second again', async () => {
    const { put, clock, received } = sending((alert, attempt) => {
      if (alert === 'b') return attempt === 1 ? retry() : undefined
      return attempt <= 4 ? retry() : refusal
    })
    put('a')
    put('b')
    await clock.advance(30)
    expect(received.slice(4)).toEqual([
      ['a', 15],
      ['b', 16],
      ['b', 17],
    ])
  })
})

describe('the group wait', () => {
  test('holds a firing alert back, and all that comes after it', async () => {
    const { put, clock, received } = sending(undefined, { groupWait: 10 })
    put('a', FIRING)
    put('b', RESOLVED)
    await clock.advance(9)
    expect(received).toEqual([])
    await clock.advance(3)
    expect(received).toEqual([
      ['a', 10],
      ['b', 11],
    ])
  })

  test.each([RESOLVED, { ...RESOLVED, kind: 'closed' as const }])(
    'holds nothing else back: $kind',
    async (notification) => {
      const { put, clock, received } = sending(undefined, { groupWait: 10 })
      put('a', notification)
      await clock.advance(1)
      expect(received).toEqual([['a', 0]])
    },
  )

  test('is never longer, though the clock on the wall is set back', async () => {
    const { put, clock, received } = sending(undefined, { groupWait: 10 })
    put('a', FIRING)
    await clock.advance(5)
    clock.stepWall(-86_400)
    await clock.advance(10)
    expect(received).toHaveLength(1)
  })
})

describe('a store that fails now and then', () => {
  test('loses nothing and keeps the order', async () => {
    const { put, clock, received, broken } = sending()
    put('a')
    put('b')
    broken.read = true
    await clock.advance(10)
    expect(received).toEqual([])
    broken.read = false
    await clock.advance(2)
    expect(received.map(([alert]) => alert)).toEqual(['a', 'b'])
  })

  test.each([
    ['sent', undefined],
    ['dropped', refusal],
  ])('does not make what was %s go out again while it can be read but not written', async (outcome, error) => {
    const { put, clock, received, outcomes, broken, outbox } = sending((alert) => (alert === 'a' ? error : undefined))
    put('a')
    put('b')
    broken.write = true
    await clock.advance(60)
    expect(received).toEqual([['a', 0]])
    expect(outcomes()).toEqual([`a ${outcome}`])
    broken.write = false
    await clock.advance(2)
    expect(received.map(([alert]) => alert)).toEqual(['a', 'b'])
    expect(outbox).toEqual([])
  })
})

describe('when it is to stop', () => {
  test('nothing more is begun, and what waits stays in the outbox', async () => {
    const { put, clock, received, outbox, stop$, isCompleted } = sending()
    put('a')
    put('b')
    await clock.advance(0.5)
    stop$.next()
    await clock.advance(10)
    expect(received).toEqual([['a', 0]])
    expect(outbox).toHaveLength(1)
    expect(isCompleted()).toBe(true)
  })

  test('a delivery under way is finished and taken out first', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { put, clock, outbox, outcomes, stop$, isCompleted } = sending(() => promise)
    put('a')
    await clock.advance(0)
    stop$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    release()
    await clock.advance(0)
    expect([outcomes(), outbox, isCompleted()]).toEqual([['a sent'], [], true])
  })
})
