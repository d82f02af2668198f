import { expect, test } from 'vitest'
import { attemptsOn } from '../../../../src/notifications/delivery/attempts.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'

test('a Retry-After of 0, or of a date that is past, does not end the backoff', async () => {
  const attempts = attemptsOn(virtualClock(0))
  const waits: (number | undefined)[] = []
  for (let i = 0; i < 8; i++) {
    const { retryIn } = await attempts.attempt(() =>
      Promise.reject(new DeliveryError('503', { retryable: true, retryAfter: 0, status: 503 })),
    )
    waits.push(retryIn)
  }
  expect(waits.at(-1)).toBeGreaterThan(60)
})
