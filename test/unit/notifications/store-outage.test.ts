import { firstValueFrom, NEVER, timer } from 'rxjs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backOff } from '../../../src/notifications/delivery/back-off.ts'
import type { Message } from '../../../src/notifications/message.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { deliver, type Delivery } from '../../../src/notifications/delivery/deliver.ts'
import { storeOutage } from '../../../src/notifications/store-outage.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { AT } from '../../kit/notifications/delivery/sending.ts'

const FAILING_SECONDS = 30
const FULL = 'the disk is full'

const busy = (retryAfter?: number) => new DeliveryError('it answered 503', { retryable: true, retryAfter })

/**
 * Notifications of the store to some receivers, each of which answers an attempt with an error or nothing.
 *
 * @param busyFor seconds that the first message about something else takes
 */
function notifying(
  answers: Record<string, (attempt: number) => Error | undefined> = { slack: () => undefined },
  busyFor?: number,
) {
  const clock = virtualClock(AT)
  let current: { problem: string; since: number; began: number; ended?: number } | undefined
  const received: [second: number, receiver: string, state: string][] = []
  const messages: Message[] = []
  const deliveries: Delivery[] = []
  const outage = storeOutage({
    problem: () => {
      if (current === undefined) return undefined
      const { ended, began, ...known } = current
      return { ...known, seconds: (ended ?? clock.monotonic()) - began, isOver: ended !== undefined }
    },
    clock,
    after: () => FAILING_SECONDS,
  })
  function add(name: string, receive: (attempt: number) => Error | undefined): void {
    let attempts = 0
    const send = async (message: Message) => {
      if (message.kind !== 'store') throw new Error('not of the store')
      received.push([clock.monotonic(), name, message.state])
      messages.push(message)
      const error = receive((attempts += 1))
      if (error !== undefined) throw error
    }
    const busy = busyFor === undefined ? undefined : firstValueFrom(timer(busyFor * 1000, clock.scheduler))
    const other = async () => {
      await busy
      return []
    }
    const rounds = [outage({ name, send }, backOff(clock)), other]
    const running = deliver(rounds, { clock, draining$: NEVER }).subscribe((delivery) => deliveries.push(delivery))
    onTestFinished(() => running.unsubscribe())
  }
  for (const [name, receive] of Object.entries(answers)) add(name, receive)
  /** The store is tried every ten seconds, with the same result. */
  const tried = async (problem: string | undefined, seconds: number) => {
    for (let i = 0; i < seconds; i += 10) {
      const now = { since: clock.wall(), began: clock.monotonic() }
      const isNew = current === undefined || current.ended !== undefined
      if (problem !== undefined) current = { ...(isNew ? now : current!), problem }
      else if (current !== undefined) current.ended ??= clock.monotonic()
      await clock.advance(10)
    }
  }
  return { clock, tried, received, messages, deliveries, add }
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

  test('is notified by elapsed time, not by the wall clock', async () => {
    const { clock, tried, received } = notifying()
    await tried(FULL, 10)
    clock.stepWall(3600)
    await tried(FULL, 10)
    expect(received).toEqual([])
    clock.stepWall(-7200)
    await tried(FULL, 20)
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
    const { tried, received } = notifying({
      slack: () => new DeliveryError('no', { retryable: false }),
      webhook: () => undefined,
    })
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
    expect(received.slice(1)).toEqual([[61, 'slack', 'recovered']])
    expect(messages[1]).toEqual({ kind: 'store', state: 'recovered', problem: FULL, since: AT, at: AT + 61 })
  })

  test('is notified also where a receiver was busy from before the problem until after it', async () => {
    const { tried, messages, received } = notifying(undefined, 100)
    await tried(undefined, 10)
    await tried(FULL, 60)
    await tried(undefined, 600)
    expect(received).toEqual([[100, 'slack', 'recovered']])
    expect(messages).toEqual([{ kind: 'store', state: 'recovered', problem: FULL, since: AT + 10, at: AT + 100 }])
  })

  test('is not notified to a receiver that is configured later', async () => {
    const { tried, received, add } = notifying()
    await tried(FULL, 60)
    await tried(undefined, 60)
    add('webhook', () => undefined)
    await tried(undefined, 600)
    expect(received.map(([, receiver]) => receiver)).toEqual(['slack', 'slack'])
  })

  test('and fails again is notified again', async () => {
    const { tried, received } = notifying()
    for (let i = 0; i < 2; i += 1) {
      await tried(FULL, 60)
      await tried(undefined, 40)
    }
    expect(received.map(([second, , state]) => [second, state])).toEqual([
      [30, 'failing'],
      [61, 'recovered'],
      [130, 'failing'],
      [161, 'recovered'],
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
      [70, 'recovered'],
    ])
  })
})

describe('a receiver that fails', () => {
  test('gets a retry 5 minutes after a refusal', async () => {
    const { tried, received, deliveries } = notifying({
      slack: () => new DeliveryError('it refused', { retryable: false }),
    })
    await tried(FULL, 600)
    expect(received.map(([second]) => second)).toEqual([30, 330])
    expect(deliveries[0]).toMatchObject({ outcome: 'retried', problem: 'it refused' })
  })
})
