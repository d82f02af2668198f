import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../kit/eventually.ts'
import { batched } from '../../../src/store/batched.ts'

/** Doubles numbers, and keeps which were asked for together. */
function doubling(most: number) {
  const batches: (readonly number[])[] = []
  const double = batched(
    async (items: readonly number[]) => {
      batches.push(items)
      if (items.includes(0)) throw new Error('none of these')
      return items.map((item) => (item < 0 ? new Error(`not ${item}`) : item * 2))
    },
    { most },
  )
  return { batches, double }
}

test('calls of one turn of the event loop share one, also after promises in between, and each has its own result', async () => {
  const { batches, double } = doubling(9)
  let promises = Promise.resolve()
  for (let i = 0; i < 9; i++) promises = promises.then(() => undefined)
  const late = promises.then(() => double(3))
  expect(await Promise.all([double(1), double(2), double(1), late])).toEqual([2, 4, 2, 6])
  expect(await double(4)).toBe(8)
  expect(batches).toEqual([[1, 2, 1, 3], [4]])
})

test('no more than the limit share one', async () => {
  const { batches, double } = doubling(2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(double))).toEqual([2, 4, 6, 8, 10])
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
})

test('what is too much together is split, and what waits for a call of load that runs shares the next one', async () => {
  const batches: (readonly number[])[] = []
  const ends: (() => void)[] = []
  const wait = batched(
    async (items: readonly number[]) => {
      batches.push(items)
      await new Promise<void>((resolve) => ends.push(resolve))
      return items
    },
    { most: 5, size: (item) => item, concurrent: 2 },
  )
  const asked = [9, 3, 2, 1].map(wait)
  await setImmediate()
  expect(batches).toEqual([[9], [3, 2]])
  asked.push(wait(4))
  await setImmediate()
  expect(batches).toHaveLength(2)
  ends[1]!()
  await vi.waitFor(() => expect(batches.slice(2)).toEqual([[1, 4]]), SOON)
  for (const end of ends) end()
  expect(await Promise.all(asked)).toEqual([9, 3, 2, 1, 4])
})

test('an error for one item rejects the call for that item alone; where the whole fails, all are rejected', async () => {
  const { double } = doubling(9)
  const settled = await Promise.allSettled([double(1), double(-1)])
  expect(settled).toMatchObject([{ value: 2 }, { reason: { message: 'not -1' } }])
  const failed = await Promise.allSettled([double(1), double(0)])
  expect(failed).toMatchObject([1, 0].map(() => ({ reason: { message: 'none of these' } })))
})
