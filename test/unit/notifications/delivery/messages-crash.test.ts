import { describe, expect, test } from 'vitest'
import { alertHistory } from '../../../kit/history/as-shown.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { AT, sending, type Receive, type Step } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }

const never = new Promise<void>(() => undefined)
const busy = new DeliveryError('it answered 503', { retryable: true })
const unanswered = new DeliveryError('it did not answer', { retryable: true, mayHaveArrived: true })
const partly = new DeliveryError('not for all', { retryable: false, mayHaveArrived: true })

/** The process dies during its first delivery: it is unknown whether that was accepted. */
const diesAtFirst: Receive = (_message, attempt) => (attempt === 1 ? never : undefined)
const texts = (received: readonly [number, string][]) => received.map(([, text]) => text)

describe('a daemon that dies while it delivers', () => {
  test('delivers that again when it is back, without another group wait, and once', async () => {
    const { fire, clock, received, restart } = sending({ receive: diesAtFirst, groupWait: 10 })
    await fire(A)
    await clock.advance(10)
    restart()
    await clock.advance(60)
    expect(received).toEqual([
      [10, 'firing A'],
      [10, 'firing A'],
    ])
  })

  test.each([
    ['its end, if it has ended by then', 1, 'resolved A'],
    ['its end, where it flapped', 3, 'resolved A +2'],
  ])('notifies of what may have been delivered %s', async (_case, times, text) => {
    const { fire, resolve, clock, received, restart, kill } = sending({ receive: diesAtFirst })
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
    await clock.advance(60)
    expect(texts(received.slice(1))).toEqual([text])
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
    expect(texts(received)).toEqual(['firing A', 'firing A', 'resolved A'])
  })

  test('does not notify the end of an alert that its message did not have', async () => {
    const { fire, resolve, clock, received, restart } = sending({ receive: diesAtFirst, groupWait: 10 })
    await fire(A)
    await clock.advance(5)
    await fire(B)
    await clock.advance(4.5)
    await resolve(B)
    await clock.advance(5)
    restart()
    await clock.advance(60)
    expect(texts(received)).toEqual(['firing A', 'firing A'])
  })

  test('delivers nothing twice that was accepted', async () => {
    const { fire, clock, received, restart } = sending()
    await fire(A)
    await clock.advance(0)
    restart()
    await clock.advance(60)
    expect(received).toHaveLength(1)
  })
})

describe('a delivery that certainly failed', () => {
  test('told nothing: an alert that resolves before the next attempt is told as one that was', async () => {
    const { fire, resolve, clock, received, store } = sending({
      receive: (_message, attempt) => (attempt <= 3 ? busy : undefined),
    })
    await fire(A)
    await clock.advance(2)
    expect((await store.notified()).rows).toEqual([])
    await resolve(A)
    await clock.advance(60)
    expect(received.at(-1)).toEqual([7, 'flapped A ×1'])
  })

  test('told nothing either where the store could not be written then', async () => {
    const { fire, resolve, clock, received, outcomes, broken } = sending({
      receive: (_message, attempt) => {
        if (attempt > 1) return undefined
        broken.add('writeNotified')
        return busy
      },
    })
    await fire(A)
    await clock.advance(1)
    broken.clear()
    await resolve(A)
    await clock.advance(60)
    expect(texts(received.slice(1))).toEqual(['flapped A ×1'])
    expect(outcomes()).toEqual(['retried', 'sent'])
  })
})

describe('a store that fails', () => {
  test.each<Step>(['notified', 'rows', 'silences', 'writeNotified'])(
    'is retried, and nothing is delivered before the attempt is written: %s',
    async (step) => {
      const { fire, clock, received, broken, outcomes } = sending()
      broken.add(step)
      await fire(A)
      await fire({ ...B, target: 'b' })
      await clock.advance(10)
      expect(received).toEqual([])
      broken.clear()
      await clock.advance(2)
      expect(texts(received)).toEqual(['firing A', 'firing B'])
      await clock.advance(60)
      expect(outcomes()).toEqual(['sent', 'sent'])
    },
  )

  /** It cannot be written from when the first message is accepted. */
  function failingThen() {
    const sent = sending({
      receive: (_message, attempt) => {
        if (attempt === 1) sent.broken.add('writeNotified')
        return undefined
      },
    })
    return sent
  }

  test('does not cause another delivery of what was sent: that is written before anything else is delivered', async () => {
    const { fire, clock, received, outcomes, broken } = failingThen()
    await fire(A)
    await fire({ ...B, target: 'b' })
    await clock.advance(60)
    expect(received).toEqual([[0, 'firing A']])
    expect(outcomes()).toEqual(['sent'])
    broken.clear()
    await clock.advance(60)
    expect(texts(received)).toEqual(['firing A', 'firing B'])
  })

  test('does not cause another delivery if sending stops and restarts, as when another daemon leads for a while', async () => {
    const { fire, clock, received, broken, resume } = failingThen()
    await fire(A)
    await clock.advance(5)
    await resume()
    broken.clear()
    await clock.advance(60)
    expect(received).toEqual([[0, 'firing A']])
  })

  test('causes one more delivery together with a crash before it is written', async () => {
    const { fire, clock, received, broken, restart } = failingThen()
    await fire(A)
    await clock.advance(5)
    restart()
    broken.clear()
    await clock.advance(60)
    expect(received).toHaveLength(2)
  })
})

describe('a delivery of which it is not known whether it arrived', () => {
  const once: Receive = (_message, attempt) => (attempt === 1 ? unanswered : undefined)

  test('counts as notified: its end is notified as well', async () => {
    const { clock, fire, resolve, received } = sending({ receive: once })
    await fire(A)
    await clock.advance(0)
    await resolve(A)
    await clock.advance(10)
    expect(texts(received)).toEqual(['firing A', 'resolved A'])
  })

  test.each(['a', 'b'])('of one group counts as notified beside another one (%s)', async (first) => {
    const { clock, fire, resolve, received } = sending({
      receive: (_message, attempt) => (attempt <= 2 ? unanswered : undefined),
    })
    for (const target of ['a', 'b']) await fire({ name: target, target })
    await clock.advance(1)
    for (const target of ['a', 'b'].toSorted((one) => (one === first ? -1 : 1))) await resolve({ name: target, target })
    await clock.advance(60)
    expect(texts(received).slice(2).toSorted()).toEqual(['resolved a', 'resolved b'])
  })

  test('is noted of its episode, if the alert fires again when the next message is accepted', async () => {
    const { clock, fire, resolve, store } = sending({ receive: once })
    await fire(A)
    await clock.advance(0.9)
    await resolve(A)
    await fire(A)
    await clock.advance(600)
    const { alerts } = await alertHistory(store, { from: 0, to: AT + 999 }, { configured: [], now: AT + 999 })
    expect(alerts.filter(({ notified }) => notified.length === 0)).toEqual([])
  })

  test('is repeated while the alert still fires', async () => {
    const { clock, fire, received } = sending({ receive: once })
    await fire(A)
    await clock.advance(10)
    expect(texts(received)).toEqual(['firing A', 'firing A'])
  })

  test.each([
    ['after three attempts', unanswered, [0, 1, 3, 303, 603]],
    ['never where some recipients have got it, and others refuse it for good', partly, [0]],
  ])('is repeated: %s', async (_what, error, times) => {
    const { clock, fire, received } = sending({ receive: () => error })
    await fire(A)
    await clock.advance(700)
    expect(received.map(([second]) => second)).toEqual(times)
  })
})
