import { Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import type { Delivery } from '../../src/notifications/delivery/batch.ts'
import type { Message } from '../../src/notifications/message.ts'
import { DeliveryError } from '../../src/network/delivery-error.ts'
import { notifyOfOutage } from '../../src/notifications/store-outage.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { AT } from './delivery/outbox-sending.ts'

const FAILING_SECONDS = 30
const FULL = 'the disk is full'

const busy = (retryAfter?: number) => new DeliveryError('it answered 503', { retryable: true, retryAfter })

/** Notifications of the store to some receivers, each of which answers an attempt with an error or nothing. */
function notifying(answers: Record<string, (attempt: number) => Error | undefined> = { slack: () => undefined }) {
  const clock = virtualClock(AT)
  const problem$ = new Subject<string | undefined>()
  const received: [second: number, receiver: string, state: string][] = []
  const messages: Message[] = []
  const deliveries: Delivery[] = []
  const receivers = Object.entries(answers).map(([name, receive]) => {
    let attempts = 0
    const send = async (message: Message) => {
      if (message.kind !== 'store') throw new Error('not of the store')
      received.push([clock.monotonic(), name, message.state])
      messages.push(message)
      const error = receive((attempts += 1))
      if (error !== undefined) throw error
    }
    return { name, send }
  })
  notifyOfOutage(problem$, { receivers: () => receivers, clock, after: FAILING_SECONDS }).subscribe((delivery) =>
    deliveries.push(delivery),
  )
  /** The store is tried every ten seconds, with the same result. */
  const tried = async (problem: string | undefined, seconds: number) => {
    for (let i = 0; i < seconds; i += 10) {
      problem$.next(problem)
      await clock.advance(10)
    }
  }
  return { clock, tried, received, messages, deliveries }
}

describe('a store that cannot be written', () => {
  test('is notified once, after it failed for long enough, with why and since when', async () => {
    const { tried, messages, received, deliveries } = notifying()
    await tried(undefined, 20)
    await tried(FULL, 600)
    expect(received).toEqual([[50, 'slack', 'failing']])
    expect(messages).toEqual([{ kind: 'store', state: 'failing', problem: FULL, since: AT + 20, at: AT + 50 }])
    expect(deliveries).toEqual([{ receiver: 'slack', message: messages[0], outcome: 'sent' }])
  })

  test('is notified once, though it fails in another way meanwhile', async () => {
    const { tried, received } = notifying()
    await tried(FULL, 20)
    await tried('the store is busy', 600)
    expect(received).toEqual([[30, 'slack', 'failing']])
  })

  test('for a moment is not notified, however often', async () => {
    const { tried, received } = notifying()
    for (let i = 0; i < 5; i += 1) {
      await tried(FULL, 20)
      await tried(undefined, 10)
    }
    expect(received).toEqual([])
  })

  test('is notified to each receiver, whether or not others fail', async () => {
    const { tried, received } = notifying({ slack: () => new Error('no'), webhook: () => undefined })
    await tried(FULL, 60)
    expect(received).toEqual([
      [30, 'slack', 'failing'],
      [30, 'webhook', 'failing'],
    ])
  })
})

describe('a store that can be written again', () => {
  test('is notified once, where the problem was', async () => {
    const { tried, messages, received } = notifying()
    await tried(FULL, 60)
    await tried(undefined, 600)
    expect(received.slice(1)).toEqual([[60, 'slack', 'recovered']])
    expect(messages[1]).toEqual({ kind: 'store', state: 'recovered', problem: FULL, since: AT, at: AT + 60 })
  })

  test('and fails again is notified again', async () => {
    const { tried, received } = notifying()
    for (let i = 0; i < 2; i += 1) {
      await tried(FULL, 60)
      await tried(undefined, 40)
    }
    expect(received.map(([second, , state]) => [second, state])).toEqual([
      [30, 'failing'],
      [60, 'recovered'],
      [130, 'failing'],
      [160, 'recovered'],
    ])
  })

  test('is not notified after a short problem, though there was a longer one before', async () => {
    const { tried, received } = notifying()
    await tried(FULL, 60)
    await tried(undefined, 40)
    await tried(FULL, 10)
    await tried(undefined, 600)
    expect(received).toHaveLength(2)
  })

  test('ends the attempts to notify of the problem', async () => {
    const { tried, received } = notifying({ slack: (attempt) => (attempt <= 2 ? busy(20) : undefined) })
    await tried(FULL, 60)
    await tried(undefined, 600)
    expect(received.map(([second, , state]) => [second, state])).toEqual([
      [30, 'failing'],
      [50, 'failing'],
      [60, 'recovered'],
    ])
  })
})

describe('a receiver that fails', () => {
  test('gets retries with increasing waits, and is given up in the end', async () => {
    const { tried, received, deliveries } = notifying({ slack: () => busy() })
    await tried(FULL, 600)
    expect(received.map(([second]) => second)).toEqual([30, 31, 33, 37, 45, 61])
    expect(deliveries).toMatchObject([{ outcome: 'dropped', problem: 'it answered 503' }])
  })

  test('gets a retry after its Retry-After, up to a minute', async () => {
    const { tried, received, deliveries } = notifying({
      slack: (attempt) => [busy(45), busy(3600)][attempt - 1],
    })
    await tried(FULL, 600)
    expect(received.map(([second]) => second)).toEqual([30, 75, 135])
    expect(deliveries).toMatchObject([{ outcome: 'sent' }])
  })

  test.each([
    ['a refusal', new DeliveryError('it refused', { retryable: false })],
    ['an unforeseen error', new TypeError('it refused')],
  ])('gets no retry after %s', async (_case, error) => {
    const { tried, received, deliveries } = notifying({ slack: () => error })
    await tried(FULL, 600)
    expect(received).toHaveLength(1)
    expect(deliveries).toMatchObject([{ outcome: 'dropped', problem: 'it refused' }])
  })
})
