import { describe, expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { backOff, isOfReceiver } from '../../../../src/notifications/delivery/back-off.ts'
import { newPauses } from '../../../../src/notifications/delivery/pauses.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'

const failed = (given: Partial<ConstructorParameters<typeof DeliveryError>[1]> = {}) =>
  new DeliveryError('it failed', { retryable: true, status: 500, ...given })
const refusal = failed({ retryable: false })
const unanswered = failed({ mayHaveArrived: true })

/** The pauses after so many failures, each of which comes after the pause before. */
async function pausesAfter(times: number, error: unknown, of?: 'state') {
  const clock = virtualClock()
  const pause = backOff(clock, of)
  const pauses: (number | undefined)[] = []
  for (let time = 0; time < times; time += 1) {
    pauses.push(pause.fail(error).retryIn)
    await clock.advance(pause.left())
  }
  return pauses
}

describe('a pause', () => {
  const growing = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
  test.each([
    ['grows to five minutes', failed(), growing],
    ['is not ended by a Retry-After of 0, or of a date that is past', failed({ retryAfter: 0 }), growing],
    ['is as long as the receiver asks', failed({ retryAfter: 45 }), [45, 45]],
    ['is an hour at most', failed({ retryAfter: 1e9 }), [3600]],
    ['is an hour after a Retry-After without an end', failed({ retryAfter: Infinity }), [3600]],
    ['is five minutes after a refusal', refusal, [300, 300]],
    ['is five minutes after three attempts without an answer', unanswered, [1, 2, 300, 300]],
    ['grows after an internal error', new TypeError('a bug'), [1, 2, 300]],
  ])('%s', async (_what, error, expected) => {
    expect(await pausesAfter(expected.length, error)).toEqual(expected)
  })

  test('of a state is a minute at most, whatever the receiver asks, and also without answers', async () => {
    expect(await pausesAfter(8, unanswered, 'state')).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(await pausesAfter(1, failed({ retryAfter: 3600 }), 'state')).toEqual([60])
  })

  test('does not grow by what was under way when it began, nor end by it', async () => {
    const clock = virtualClock()
    const [whole, own] = [backOff(clock), backOff(clock)]
    const unreachable = () => Promise.reject(failed({ status: undefined }))
    for (const _message of [1, 2, 3, 4]) await own.attempt(unreachable, whole)
    await own.attempt(async () => undefined, whole)
    expect([whole.left(), own.left()]).toEqual([1, 0])
    await clock.advance(1)
    await own.attempt(async () => undefined, whole)
    expect(whole.failed()).toBeUndefined()
  })

  test('does not follow what may have arrived and would never be confirmed', async () => {
    const pause = backOff(virtualClock())
    const error = failed({ retryable: false, mayHaveArrived: true })
    expect(await pause.attempt(() => Promise.reject(error))).toEqual({ outcome: 'sent', unconfirmed: 'it failed' })
    expect(pause.left()).toBe(0)
  })

  test('is by elapsed time, and begins anew once something was accepted', async () => {
    const clock = virtualClock(1000)
    const pause = backOff(clock)
    pause.fail(failed())
    clock.stepWall(3600)
    await clock.advance(0.5)
    expect([pause.left(), pause.failed()]).toEqual([0.5, { since: 1000, problem: 'it failed' }])
    expect([pause.accepted(), pause.left(), pause.failed()]).toEqual([{ outcome: 'sent' }, 0, undefined])
    expect(pause.fail(failed()).retryIn).toBe(1)
  })

  test('after an internal error has the error for the log, and no word of it for people', async () => {
    const error = new TypeError('a bug')
    const attempt = await backOff(virtualClock()).attempt(() => Promise.reject(error))
    expect(attempt).toMatchObject({ outcome: 'retried', problem: 'internal error', mayHaveArrived: true, error })
  })
})

test.each([
  ['cannot be reached', failed({ status: undefined }), true],
  ['asks to wait', failed({ status: 429, retryAfter: 3 }), true],
  ['answers with 500', failed(), false],
  ['does not answer', failed({ status: undefined, mayHaveArrived: true }), false],
  ['refuses the message', failed({ status: undefined, retryable: false }), false],
  ['gets none, because of a bug', new TypeError('a bug'), false],
])('a receiver that %s pauses as a whole: %s', (_what, error, expected) => {
  expect(isOfReceiver(error)).toBe(expected)
})

describe('what is said of a receiver', () => {
  test('is nothing while nothing fails', () => {
    const pauses = newPauses(virtualClock())
    pauses.due = 3
    expect([pauses.failure(), pauses.stillFails()]).toEqual([undefined, {}])
  })

  test('is since when nothing can be delivered, until something is', async () => {
    const clock = virtualClock(1000)
    const pauses = newPauses(clock)
    pauses.of('a').fail(failed())
    pauses.reports.fail(refusal)
    const failure = { problem: 'it failed', next: 1001, pending: 2, oldest: 1000 }
    expect(pauses.failure()).toEqual({ ...failure, since: 1000 })
    await clock.advance(0.5)
    pauses.accepted()
    expect(pauses.failure()).toEqual(failure)
    expect(pauses.stillFails()).toEqual({ problem: 'it failed' })
  })

  test('is first what concerns all of it, with all that is due', () => {
    const pauses = newPauses(virtualClock(1000))
    pauses.of('a').fail(refusal)
    pauses.whole.fail(new DeliveryError('no route', { retryable: true, retryAfter: 60 }))
    pauses.due = 5
    expect(pauses.failure()).toMatchObject({ problem: 'no route', next: 1060, pending: 5 })
    pauses.whole.accepted()
    expect(pauses.failure()).toMatchObject({ problem: 'it failed', next: 1300 })
  })

  test('is an edit that fails, which is no message that waits', () => {
    const pauses = newPauses(virtualClock(1000))
    pauses.edits.fail(failed())
    expect(pauses.failure()).toMatchObject({ problem: 'it failed', pending: 0 })
  })

  test('is nothing of a group that is gone', () => {
    const pauses = newPauses(virtualClock())
    for (const key of ['a', 'b']) pauses.of(key).fail(failed())
    pauses.keep(new Set(['b']))
    expect([pauses.failure()?.pending, pauses.of('a').left(), pauses.of('b').left()]).toEqual([1, 0, 1])
  })
})
