import { describe, expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { inShort, sending } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A', target: 'a' }
const B = { name: 'B', target: 'b' }
const C = { name: 'C', target: 'c' }

const busy = (retryAfter?: number) => new DeliveryError('it answered 503', { retryable: true, retryAfter })
const failing = new DeliveryError('it answered 500', { retryable: true, status: 500 })
const refusal = new DeliveryError('it refused', { retryable: false })

describe('messages', () => {
  test('are sent once, one a second', async () => {
    const { fire, clock, received, outcomes } = sending()
    for (const alert of [A, B, C]) await fire(alert)
    await clock.advance(1.5)
    expect(received).toEqual([
      [0, 'firing A'],
      [1, 'firing B'],
    ])
    await clock.advance(1)
    await fire({ name: 'D', target: 'd' })
    await clock.advance(10)
    expect(received.slice(2)).toEqual([
      [2, 'firing C'],
      [3, 'firing D'],
    ])
    expect(outcomes()).toEqual(['sent', 'sent', 'sent', 'sent'])
  })

  test('are sent the most severe first', async () => {
    const { fire, clock, received } = sending()
    await fire({ name: 'Info', severity: 'info' }, { labels: { type: 'video' } })
    await fire(A)
    await fire({ name: 'Critical', severity: 'critical' }, { labels: { type: 'audio' } })
    await clock.advance(5)
    expect(received.map(([, text]) => text)).toEqual(['firing Critical', 'firing A', 'firing Info'])
  })

  test('are reported, each with its receiver', async () => {
    const { fire, clock, deliveries, messages } = sending()
    await fire(A)
    await clock.advance(0)
    expect(deliveries).toEqual([{ receiver: 'slack', message: messages[0], outcome: 'sent' }])
  })

  test('to a slow receiver are under way four at once, of a group one', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, clock, received } = sending({ receive: () => promise })
    await fire({ name: 'A' })
    await clock.advance(1)
    await fire({ name: 'B' })
    for (const target of ['c', 'd', 'e', 'f', 'g']) await fire({ name: 'On', target })
    await clock.advance(30)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing On', 'firing On', 'firing On'])
    release()
    await clock.advance(5)
    expect(received.map(([, text]) => text).slice(4).toSorted()).toEqual(['firing B', 'firing On', 'firing On']) // oxfmt-ignore
  })
})

describe('a receiver that fails', () => {
  test('gets its next message after its Retry-After, the longest untried first', async () => {
    const { fire, clock, received, deliveries, outcomes } = sending({
      receive: (_message, attempt) => (attempt === 1 ? busy(45) : undefined),
    })
    await fire(A)
    await clock.advance(44.5)
    await fire(B)
    expect(received).toEqual([[0, 'firing A']])
    await clock.advance(5)
    expect(received.slice(1)).toEqual([
      [45, 'firing B'],
      [46, 'firing A'],
    ])
    expect(outcomes()).toEqual(['retried', 'sent', 'sent'])
    expect(deliveries[0]!.problem).toBe('it answered 503')
  })

  test('gets retries with increasing waits, up to five minutes, and loses nothing', async () => {
    const { fire, clock, received } = sending({ receive: () => busy() })
    await fire(A)
    await clock.advance(2000)
    const times = received.map(([second]) => second)
    expect(times.slice(1).map((second, i) => second - times[i]!)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300,
    ])
  })

  test('is retried quickly when it fails again after it had worked', async () => {
    const { fire, clock, received } = sending({
      receive: (_message, attempt) => (attempt <= 5 || attempt === 7 ? busy() : undefined),
    })
    await fire(A)
    await clock.advance(20)
    await fire(B)
    await clock.advance(20)
    expect(received.slice(5)).toEqual([
      [31, 'firing B'],
      [32, 'firing A'],
      [33, 'firing A'],
    ])
  })

  test('gets a retry by elapsed time, not by the wall clock', async () => {
    const { fire, clock, received } = sending({
      receive: (_message, attempt) => (attempt === 1 ? busy(10) : undefined),
    })
    await fire(A)
    await clock.advance(1)
    clock.stepWall(86_400)
    await clock.advance(8)
    expect(received).toHaveLength(1)
    clock.stepWall(-7 * 86_400)
    await clock.advance(1)
    expect(received).toHaveLength(2)
  })
})

describe('a message', () => {
  test.each([
    ['that is refused', refusal, [0, 300, 600]],
    ['that is answered with 500', failing, [0, 1, 3, 7, 15, 31, 63, 127, 255, 511]],
  ])('%s delays no other group, and is sent once it is accepted', async (_what, error, times) => {
    let isFailing = true
    const { fire, clock, received, deliveries } = sending({
      receive: (message) => (isFailing && inShort(message) === 'firing A' ? error : undefined),
    })
    await fire(A)
    await clock.advance(40)
    await fire(B)
    await clock.advance(660)
    expect(received.flatMap(([second, text]) => (text === 'firing A' ? second : []))).toEqual(times)
    expect(received.filter(([, text]) => text === 'firing B').map(([second]) => second <= 42)).toEqual([true])
    expect(deliveries[0]).toMatchObject({ outcome: 'retried', problem: error.message })
    isFailing = false
    await clock.advance(320)
    expect(deliveries.at(-1)).toMatchObject({ outcome: 'sent' })
    const before = received.length
    await clock.advance(700)
    expect(received).toHaveLength(before)
  })

  test('that is refused is no beginning: an alert that ends before it is accepted is told as one that was', async () => {
    const { fire, resolve, clock, received } = sending({
      receive: (_message, attempt) => (attempt === 1 ? refusal : undefined),
    })
    await fire(A)
    await clock.advance(60)
    await resolve(A)
    await clock.advance(300)
    expect(received).toEqual([
      [0, 'firing A'],
      [300, 'flapped A ×1'],
    ])
  })

  test('with the end of an alert that is refused is sent again until it is accepted', async () => {
    const { fire, resolve, clock, received, outcomes } = sending({
      receive: (_message, attempt) => (attempt > 1 && attempt < 5 ? refusal : undefined),
    })
    await fire(A)
    await clock.advance(60)
    await resolve(A)
    await clock.advance(700)
    clock.stepWall(86_400)
    await clock.advance(600)
    expect(received.slice(1)).toEqual([61, 361, 661, 961].map((second) => [second, 'resolved A']))
    expect(outcomes().at(-1)).toBe('sent')
  })

  test('that fails by an internal error is retried', async () => {
    const mistake = new TypeError('no counts')
    let isMended = false
    const { fire, clock, received, deliveries } = sending({ receive: () => (isMended ? undefined : mistake) })
    await fire(A)
    await clock.advance(30)
    expect(received.map(([second]) => second)).toEqual([0, 1, 3])
    expect(deliveries).toMatchObject(
      Array.from({ length: 3 }, () => ({ outcome: 'retried', problem: 'internal error', error: mistake })),
    )
    isMended = true
    await clock.advance(300)
    expect(deliveries.at(-1)).toMatchObject({ outcome: 'sent' })
  })
})

describe('the group wait', () => {
  test('collects the alerts of one target and severity into one message, also later ones', async () => {
    const { fire, clock, received } = sending({ groupWait: 10 })
    await fire({ name: 'A' })
    await clock.advance(4)
    await fire({ name: 'B' })
    await fire({ name: 'Critical', severity: 'critical' }, { labels: { type: 'video' } })
    await fire({ name: 'Elsewhere', target: 'staging' })
    await clock.advance(5.5)
    expect(received).toEqual([])
    await fire({ name: 'C' })
    await clock.advance(20)
    expect(received).toEqual([
      [10, 'firing A, firing B, firing C'],
      [14, 'firing Critical'],
      [15, 'firing Elsewhere'],
    ])
  })

  test.each(['resolved', 'expired'] as const)('delays only what is new: %s', async (kind) => {
    const { fire, resolve, expire, clock, received } = sending({ groupWait: 10 })
    await fire(A)
    await clock.advance(60)
    await { resolved: resolve, expired: expire }[kind](A)
    await clock.advance(1)
    expect(received.slice(1)).toEqual([[61, `${kind} A`]])
  })

  test.each([-86_400, 86_400])('is neither longer nor shorter when the wall clock is set by %i s', async (step) => {
    const { fire, clock, received } = sending({ groupWait: 10 })
    await fire(A)
    await clock.advance(5)
    clock.stepWall(step)
    await clock.advance(4)
    expect(received).toEqual([])
    await clock.advance(2)
    expect(received).toHaveLength(1)
  })

  test('says nothing of what came and went within it', async () => {
    const { fire, resolve, clock, received } = sending({ groupWait: 10, groupInterval: 300 })
    for (const _time of [1, 2]) {
      await fire(A)
      await clock.advance(9)
      await resolve(A)
      await clock.advance(6)
    }
    await clock.advance(600)
    expect(received).toEqual([])
  })
})

describe('sending, when it stops,', () => {
  test('starts no delivery, and the next process sends the rest', async () => {
    const { fire, clock, received, draining$, isCompleted, restart } = sending()
    await fire(A)
    await fire(B)
    await clock.advance(0.5)
    draining$.next()
    await clock.advance(10)
    expect([received, isCompleted()]).toEqual([[[0, 'firing A']], true])
    restart()
    await clock.advance(5)
    expect(received.slice(1).map(([, text]) => text)).toEqual(['firing B'])
  })

  test('finishes a delivery, and writes what was told', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, clock, store, outcomes, draining$, isCompleted } = sending({ receive: () => promise })
    await fire(A)
    await clock.advance(0)
    draining$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    release()
    await clock.advance(0)
    const { rows } = await store.notified()
    expect([outcomes(), rows.map(({ accepted }) => accepted), isCompleted()]).toEqual([['sent'], [true], true])
  })
})
