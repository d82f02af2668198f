import { NEVER } from 'rxjs'
import { expect, test } from 'vitest'
import { fromGenerator } from '../../../src/rx/from-generator.ts'

test('an unsubscribed generator is aborted', async () => {
  let aborted: AbortSignal | undefined
  const subscription = fromGenerator(async function* (signal) {
    aborted = signal
    yield 1
    await new Promise(() => undefined)
  }, NEVER).subscribe()
  await Promise.resolve()
  expect(aborted?.aborted).toBe(false)
  subscription.unsubscribe()
  expect(aborted?.aborted).toBe(true)
})
