import { describe, expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { deliveryFailures } from '../../../../src/notifications/delivery/attempts.ts'
import { ERRORS, AT, inShort, sending } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A', target: 'a' }
const B = { name: 'B', target: 'b' }
const C = { name: 'C', target: 'c' }

const busy = (retryAfter?: number) => new DeliveryError('it answered 503', { retryable: true, retryAfter })
const refusal = new DeliveryError('it refused', { retryable: false })

describe('the outbox', () => {
  test('is sent in order, one message a second, and is emptied', async () => {
    const { fire, clock, received, waiting, outcomes } = sending()
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
    expect(await waiting()).toEqual([])
  })

  test('keeps entries of other receivers', async () => {
    const { put, fire, clock, received, store } = sending()
    await put(await fire(A), ['webhook'])
    await clock.advance(5)
    expect(received).toEqual([[0, 'firing A']])
    expect(await store.outbox('webhook')).toHaveLength(1)
  })

  test('reports each delivery with its receiver and message', async () => {
    const { fire, clock, deliveries, messages } = sending()
    await fire(A)
    await clock.advance(0)
    expect(deliveries).toEqual([{ receiver: 'slack', message: messages[0], outcome: 'sent' }])
  })

  test('never sends two messages at once to a slow receiver', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, clock, received } = sending({ receive: () => promise })
    await fire(A)
    await fire(B)
    await clock.advance(30)
    expect(received).toEqual([[0, 'firing A']])
    release()
    await clock.advance(1)
    expect(received.slice(1)).toEqual([[31, 'firing B']])
  })
})

describe('a receiver that fails', () => {
  test('gets its next message after its Retry-After, and later ones wait', async () => {
    const { fire, clock, received, deliveries, outcomes } = sending({
      receive: (_message, attempt) => (attempt === 1 ? busy(45) : undefined),
    })
    await fire(A)
    await clock.advance(44.5)
    await fire(B)
    expect(received).toEqual([[0, 'firing A']])
    await clock.advance(5)
    expect(received.slice(1)).toEqual([
      [45, 'firing A'],
      [46, 'firing B'],
    ])
    expect(outcomes()).toEqual(['retried', 'sent', 'sent'])
    expect(deliveries[0]!.problem).toBe('it answered 503')
  })

  test('gets retries with increasing waits, up to five minutes, and loses nothing', async () => {
    const { fire, clock, received, waiting } = sending({ receive: () => busy() })
    await fire(A)
    await clock.advance(2000)
    const times = received.map(([second]) => second)
    expect(times.slice(1).map((second, i) => second - times[i]!)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300,
    ])
    expect(await waiting()).toHaveLength(1)
  })

  test('is retried quickly when it fails again after it had worked', async () => {
    const { fire, clock, received } = sending({
      receive: (_message, attempt) => (attempt <= 5 || attempt === 7 ? busy() : undefined),
    })
    await fire(A)
    await fire(B)
    await clock.advance(40)
    expect(received.slice(5)).toEqual([
      [31, 'firing A'],
      [32, 'firing B'],
      [33, 'firing B'],
    ])
  })

  test.each([Infinity, 1e9])('with a Retry-After of %d s gets a retry after an hour', async (seconds) => {
    const { fire, clock, received } = sending({
      receive: (_message, attempt) => (attempt === 1 ? busy(seconds) : undefined),
    })
    await fire(A)
    await clock.advance(3599)
    expect(received).toHaveLength(1)
    await clock.advance(1)
    expect(received).toHaveLength(2)
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

describe('alerts of a group that the receiver refuses', () => {
  const [crit, other, poison] = [{ name: 'Crit' }, { name: 'Other' }, { name: 'Poison' }]

  test('delay no alert that fires later, and follow one that it accepts', async () => {
    let isWell = false
    const { clock, fire, received } = sending({
      groupBy: ['target'],
      receive: () => (isWell ? undefined : refusal),
    })
    await fire(other)
    await clock.advance(2)
    isWell = true
    await fire(crit)
    await clock.advance(3)
    expect(received.map(([, text]) => text)).toEqual(['firing Other', 'firing Crit', 'firing Other'])
  })

  test('are offered again one at a time, so that one that it cannot take keeps back no other', async () => {
    const { clock, fire, received, deliveries } = sending({
      groupBy: ['target'],
      receive: (message) => (inShort(message).includes('Poison') ? refusal : undefined),
    })
    for (const alert of [poison, crit, other]) await fire(alert)
    await clock.advance(1400)
    const sent = received.filter((_, n) => deliveries[n]!.outcome === 'sent').map(([, text]) => text)
    expect(sent.join()).toContain('Crit')
    expect(sent.join()).toContain('Other')
    expect(sent.join()).not.toContain('Poison')
    // No more than one attempt in five minutes, and one after each that it accepts.
    expect(received.length).toBeLessThanOrEqual(8)
  })

  test('are sent together once it accepts one of them, as after a webhook was rotated', async () => {
    let isWell = false
    const { clock, fire, received } = sending({
      groupBy: ['target'],
      groupWait: 5,
      receive: () => (isWell ? undefined : refusal),
    })
    for (const alert of [poison, crit, other]) await fire(alert)
    await clock.advance(10)
    isWell = true
    await clock.advance(300)
    expect(received.length).toBe(3)
    expect(received.slice(1).map(([, text]) => text.split(',').length)).toEqual([1, 2])
  })

  test('are said of a receiver that accepts others, and does not fail', async () => {
    const { clock, fire, deliveries } = sending({
      groupBy: ['target'],
      receive: (message) => (inShort(message).includes('Poison') ? refusal : undefined),
    })
    const failures = deliveryFailures(clock, (text) => text)
    const noted = () => {
      for (const delivery of deliveries.splice(0)) failures.note(delivery)
      return failures.of('slack')
    }
    await fire(poison)
    await clock.advance(2)
    const at = clock.wall() - 2
    expect(noted()).toMatchObject({ since: clock.wall(), problem: 'it refused' })
    await fire(crit)
    await clock.advance(2)
    expect(noted()).toEqual({ problem: 'it refused', next: expect.closeTo(at + 302, -1) })
    await clock.advance(600)
    expect(noted()).toEqual({ problem: 'it refused', next: expect.any(Number) })
  })
})

describe('a message that is refused', () => {
  test('is offered again when the receiver has accepted another one, and then every 5 minutes', async () => {
    let isRefusing = true
    const { fire, clock, received, outcomes, deliveries, waiting } = sending({
      receive: (message) => (isRefusing && inShort(message) === 'firing A' ? refusal : undefined),
    })
    await fire(A)
    await fire({ ...B, target: 'staging' })
    await clock.advance(400)
    expect(received).toEqual([
      [0, 'firing A'],
      [1, 'firing B'],
      [2, 'firing A'],
      [302, 'firing A'],
    ])
    expect(outcomes()).toEqual(['retried', 'sent', 'retried', 'retried'])
    expect(deliveries[0]!.problem).toBe('it refused')
    isRefusing = false
    await clock.advance(300)
    expect([received.at(-1), await waiting()]).toEqual([[602, 'firing A'], []])
  })

  test('is no beginning: an alert that ends before it is accepted fired and resolved between deliveries', async () => {
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

  test('with the end of an alert is offered again, for a day', async () => {
    const { fire, resolve, clock, received, outcomes, waiting } = sending({
      receive: (_message, attempt) => (attempt > 1 ? refusal : undefined),
    })
    await fire(A)
    await clock.advance(60)
    await resolve(A)
    await clock.advance(400)
    expect(received.slice(1)).toEqual([
      [61, 'resolved A'],
      [361, 'resolved A'],
    ])
    clock.stepWall(86_400)
    await clock.advance(300)
    expect([outcomes(), await waiting()]).toEqual([['sent', 'retried', 'retried', 'dropped'], []])
  })

  test('with an end of long ago and an alert that fires is offered again', async () => {
    let answer: DeliveryError | undefined
    const { fire, resolve, clock, outcomes, waiting } = sending({ groupBy: ['severity'], receive: () => answer })
    await fire(A)
    await clock.advance(2)
    answer = busy(3600)
    await resolve(A)
    await clock.advance(2)
    clock.stepWall(90_000)
    await fire(B)
    answer = refusal
    await clock.advance(3600)
    expect(outcomes()).not.toContain('dropped')
    expect(await waiting()).toHaveLength(2)
  })

  test('after some recipients have got it is dropped', async () => {
    const partly = new DeliveryError('not for all', { retryable: false, mayHaveArrived: true })
    const { fire, clock, received, outcomes, waiting } = sending({ receive: () => partly })
    await fire(A)
    await clock.advance(400)
    expect([received.length, outcomes(), await waiting()]).toEqual([1, ['dropped'], []])
  })
})

describe('a message that fails', () => {
  test('by an internal error is retried with increasing waits', async () => {
    const mistake = new TypeError('no counts')
    let isMended = false
    const { fire, clock, received, deliveries, waiting } = sending({ receive: () => (isMended ? undefined : mistake) })
    await fire(A)
    await clock.advance(8)
    expect(received.map(([second]) => second)).toEqual([0, 1, 3, 7])
    expect(deliveries).toMatchObject(
      Array.from({ length: 4 }, () => ({ outcome: 'retried', problem: 'internal error', error: mistake })),
    )
    isMended = true
    await clock.advance(8)
    expect(deliveries.at(-1)).toMatchObject({ outcome: 'sent' })
    expect(await waiting()).toEqual([])
  })

  test('waits a second again after a refusal, because the receiver answers', async () => {
    const { fire, clock, received } = sending({
      receive: (_message, attempt) => {
        if (attempt === 5) return refusal
        return attempt <= 6 ? busy() : undefined
      },
    })
    await fire(A)
    await fire(B)
    await clock.advance(30)
    expect(received.slice(4)).toEqual([
      [15, 'firing A'],
      [16, 'firing B'],
      [17, 'firing B'],
      [18, 'firing A'],
    ])
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

  test.each(['resolved', 'expired', 'reminder'] as const)('delays only what is new: %s', async (kind) => {
    const { fire, remind, resolve, expire, clock, received } = sending({ groupWait: 10 })
    await fire(A)
    await clock.advance(60)
    await { resolved: resolve, expired: expire, reminder: remind }[kind](A)
    await clock.advance(1)
    expect(received.slice(1)).toEqual([[61, `${kind} A`]])
  })

  test('is not longer when the wall clock is set back', async () => {
    const { fire, clock, received } = sending({ groupWait: 10 })
    await fire(A)
    await clock.advance(5)
    clock.stepWall(-86_400)
    await clock.advance(10)
    expect(received).toHaveLength(1)
  })

  test('says in one message that an alert came and went within it', async () => {
    const { fire, resolve, clock, received, waiting } = sending({ groupWait: 10, groupInterval: 300 })
    const comesAndGoes = async () => {
      await fire(A)
      await clock.advance(9)
      await resolve(A)
      await clock.advance(6)
    }
    await comesAndGoes()
    await comesAndGoes()
    await clock.advance(600)
    expect([received, await waiting()]).toEqual([
      [
        [10, 'flapped A ×1'],
        [310, 'flapped A ×1'],
      ],
      [],
    ])
  })

  test('prevents notifications of failed requests that succeed again within it', async () => {
    const { fire, resolve, clock, received, waiting } = sending({ groupWait: 10 })
    await fire({ name: ERRORS })
    await clock.advance(9)
    await resolve({ name: ERRORS })
    await clock.advance(60)
    expect([received, await waiting()]).toEqual([[], []])
  })
})

describe('sending, when it stops,', () => {
  test('starts no delivery, and keeps the outbox', async () => {
    const { fire, clock, received, waiting, draining$, isCompleted } = sending()
    await fire(A)
    await fire(B)
    await clock.advance(0.5)
    draining$.next()
    await clock.advance(10)
    expect(received).toEqual([[0, 'firing A']])
    expect(await waiting()).toMatchObject([{ content: { key: 'B', at: AT }, claimed: false }])
    expect(isCompleted()).toBe(true)
  })

  test('finishes a delivery and removes it from the outbox first', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, clock, waiting, outcomes, draining$, isCompleted } = sending({ receive: () => promise })
    await fire(A)
    await clock.advance(0)
    draining$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    release()
    await clock.advance(0)
    expect([outcomes(), await waiting(), isCompleted()]).toEqual([['sent'], [], true])
  })
})
