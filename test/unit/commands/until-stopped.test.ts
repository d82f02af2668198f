import { expect, test } from 'vitest'
import { untilStopped } from '../../../src/commands/until-stopped.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

test('work is repeated while the store cannot be read, and each outage is said once', async () => {
  const clock = virtualClock()
  const said: string[] = []
  const outcomes = ['done', 'fails', 'fails', 'fails', 'done', 'fails', 'done', 'last']
  const work = async () => {
    if (outcomes.shift() === 'fails') throw new StoreError('unavailable', 'the store cannot be read')
  }
  const ended = untilStopped(work, 5, { warn: (text) => void said.push(text) }, () => outcomes.length > 0, clock)
  await clock.advance(1 + 5 + 3 + 5 + 1 + 5)
  await ended
  expect(said).toEqual(Array.from({ length: 2 }, () => 'the store cannot be read; retries each second'))
})
