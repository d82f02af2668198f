import { describe, expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { ERRORS, sending, type Receive, type Step } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }

const never = new Promise<void>(() => undefined)
const busy = new DeliveryError('it answered 503', { retryable: true })
const refusal = new DeliveryError('not for all', { retryable: false, mayHaveArrived: true })

/** The process dies during its first delivery: it is unknown whether that was accepted. */
const diesAtFirst: Receive = (_message, attempt) => (attempt === 1 ? never : undefined)

describe('a daemon that dies while it delivers', () => {
  test('delivers that again when it is back, without another group wait', async () => {
    const { fire, clock, received, waiting, restart } = sending({ receive: diesAtFirst, groupWait: 10 })
    await fire(A)
    await clock.advance(10)
    restart()
    await clock.advance(0)
    expect(received).toEqual([
      [10, 'firing A'],
      [10, 'firing A'],
    ])
    expect(await waiting()).toEqual([])
  })

  test('delivers a reminder again as a reminder', async () => {
    const { fire, remind, clock, received, restart } = sending({
      receive: (_message, attempt) => (attempt === 2 ? never : undefined),
    })
    await fire(A)
    await clock.advance(1)
    await remind(A)
    await clock.advance(1)
    restart()
    await clock.advance(1)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'reminder A', 'reminder A'])
  })

  test.each([
    ['its end, if it has ended by then', 1, 'resolved A'],
    ['its end, where it flapped', 3, 'resolved A +2'],
  ])('notifies of what may have been delivered %s', async (_case, times, text) => {
    const { fire, resolve, clock, received, restart, kill, waiting } = sending({ receive: diesAtFirst })
    await fire(A)
    await clock.advance(1)
    kill()
    for (let i = 0; i < times; i += 1) {
      await clock.advance(600)
      if (i > 0) await fire(A)
      await clock.advance(600)
      await resolve(A)
    }
    restart()
    await clock.advance(5)
    expect(received.slice(1).map(([, text]) => text)).toEqual([text])
    expect(await waiting()).toEqual([])
  })

  test('notifies the end of what may have been delivered, though the receiver certainly fails when it is back', async () => {
    const { fire, resolve, clock, received, restart } = sending({
      groupWait: 10,
      receive: (_message, attempt) => [never, busy][attempt - 1],
    })
    await fire(A)
    await clock.advance(10)
    restart()
    await clock.advance(0.5)
    await resolve(A)
    await clock.advance(60)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing A', 'resolved A'])
  })

  test('does not notify the end of an alert that its message did not have', async () => {
    const { fire, resolve, clock, received, restart } = sending({ receive: diesAtFirst, groupWait: 10 })
    await fire(A)
    await clock.advance(5)
    await fire({ name: ERRORS })
    await clock.advance(4.5)
    await resolve({ name: ERRORS })
    await clock.advance(5)
    restart()
    await clock.advance(60)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing A'])
  })

  test('delivers nothing twice that was removed from the outbox before', async () => {
    const { fire, clock, received, restart } = sending()
    await fire(A)
    await clock.advance(0)
    restart()
    await clock.advance(60)
    expect(received).toHaveLength(1)
  })
})

describe('a delivery that certainly failed', () => {
  test('leaves no claim: an alert that resolves before the next attempt fired and resolved between deliveries', async () => {
    const { fire, resolve, clock, received, waiting } = sending({
      receive: (_message, attempt) => (attempt <= 3 ? busy : undefined),
    })
    await fire(A)
    await clock.advance(2)
    expect(await waiting()).toMatchObject([{ claimed: false }])
    await resolve(A)
    await clock.advance(60)
    expect(received.at(-1)).toEqual([7, 'flapped A ×1'])
  })

  test('leaves no claim once the store can be written, where the claim could not be taken back at once', async () => {
    const { fire, resolve, clock, received, outcomes, broken } = sending({
      receive: (_message, attempt) => {
        if (attempt > 1) return undefined
        broken.add('claimOutbox')
        return busy
      },
    })
    await fire(A)
    await clock.advance(1)
    broken.clear()
    await resolve(A)
    await clock.advance(60)
    expect(received.slice(1).map(([, text]) => text)).toEqual(['flapped A ×1'])
    expect(outcomes()).toEqual(['retried', 'sent'])
  })
})

describe('a store that fails', () => {
  test.each<Step>(['outbox', 'silences', 'claimOutbox'])(
    'is retried, and nothing is delivered before it can be claimed: %s',
    async (step) => {
      const { fire, clock, received, broken } = sending()
      await fire(A)
      await fire({ ...B, target: 'b' })
      broken.add(step)
      await clock.advance(10)
      expect(received).toEqual([])
      broken.clear()
      await clock.advance(2)
      expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing B'])
    },
  )

  test('is asked before each attempt whether this process may send, also if everything was claimed before', async () => {
    const { fire, clock, store, received, waiting, broken } = sending()
    await fire(A)
    await store.claimOutbox(
      (await waiting()).map(({ id }) => id),
      true,
    )
    broken.add('claimOutbox')
    await clock.advance(10)
    expect(received).toEqual([])
    broken.clear()
    await clock.advance(2)
    expect(received.map(([, text]) => text)).toEqual(['firing A'])
  })

  test.each([
    ['sent', undefined],
    ['dropped', refusal],
  ])(
    'does not cause another delivery of what was %s: it is removed before anything else is delivered',
    async (outcome, error) => {
      const { fire, clock, received, outcomes, broken, waiting } = sending({
        receive: (_message, attempt) => (attempt === 1 ? error : undefined),
      })
      await fire(A)
      await fire({ ...B, target: 'b' })
      broken.add('removeFromOutbox')
      await clock.advance(60)
      expect(received).toEqual([[0, 'firing A']])
      expect(outcomes()).toEqual([outcome])
      broken.clear()
      await clock.advance(2)
      expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing B'])
      expect(await waiting()).toEqual([])
    },
  )

  test('does not cause another delivery if sending stops and restarts, as when another daemon leads for a while', async () => {
    const { fire, clock, received, broken, waiting, resume } = sending()
    await fire(A)
    broken.add('removeFromOutbox')
    await clock.advance(5)
    await resume()
    broken.clear()
    await clock.advance(60)
    expect(received).toEqual([[0, 'firing A']])
    expect(await waiting()).toEqual([])
  })

  test('causes one more delivery together with a crash before the removal', async () => {
    const { fire, clock, received, broken, restart } = sending()
    await fire(A)
    broken.add('removeFromOutbox')
    await clock.advance(5)
    restart()
    broken.clear()
    await clock.advance(60)
    expect(received).toHaveLength(2)
  })
})

describe('a delivery of which it is not known whether it arrived', () => {
  const unanswered = new DeliveryError('it did not answer', { retryable: true, mayHaveArrived: true })

  test('counts as notified: its end is notified as well', async () => {
    const { clock, fire, resolve, received } = sending({
      receive: (_message, attempt) => (attempt === 1 ? unanswered : undefined),
    })
    await fire({ name: 'A' })
    await clock.advance(0)
    await resolve({ name: 'A' })
    await clock.advance(10)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'resolved A'])
  })

  test('is repeated while the alert still fires', async () => {
    const { clock, fire, received } = sending({
      receive: (_message, attempt) => (attempt === 1 ? unanswered : undefined),
    })
    await fire({ name: 'A' })
    await clock.advance(10)
    expect(received.map(([, text]) => text)).toEqual(['firing A', 'firing A'])
  })
})
