import { expect, test } from 'vitest'
import { attemptsOn, deliveryFailures } from '../../../../src/notifications/delivery/attempts.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'

const refuse = () => Promise.reject(new DeliveryError('it refused', { retryable: false, mayHaveArrived: false }))
const accept = () => Promise.resolve()

test('a receiver that accepts all but one alert does not fail when it refuses that one again, or for ever', async () => {
  const clock = virtualClock()
  const { attempt } = attemptsOn(clock)
  const failures = deliveryFailures(clock, (text) => text)
  const send = async (work: () => Promise<unknown>, ids: string[], drops = false) => {
    failures.note({ receiver: 'slack', ...(await attempt(work, { subject: 'group', ids, drops })) })
    return failures.of('slack')
  }
  expect(await send(refuse, ['fine', 'poisoned'])).toMatchObject({ since: clock.wall() })
  expect(await send(accept, ['fine'])).toBeUndefined()
  const again = await send(refuse, ['poisoned'])
  expect(again).toMatchObject({ problem: 'it refused' })
  expect(again).not.toHaveProperty('since')
  expect(await send(refuse, ['poisoned'], true)).toBeUndefined()
})
