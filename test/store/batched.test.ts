import { expect, test } from 'vitest'
import { batched } from '../../src/store/batched.ts'

/** Doubles numbers, and keeps which were asked for together. */
function doubling(most: number) {
  const batches: (readonly number[])[] = []
  const double = batched(async (items: readonly number[]) => {
    batches.push(items)
    if (items.includes(0)) throw new Error('none of these')
    return items.map((item) => (item < 0 ? new Error(`not ${item}`) : item * 2))
  }, most)
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

test('an error for one item rejects the call for that item alone; where the whole fails, all are rejected', async () => {
  const { double } = doubling(9)
  const settled = await Promise.allSettled([double(1), double(-1)])
  expect(settled).toMatchObject([{ value: 2 }, { reason: { message: 'not -1' } }])
  const failed = await Promise.allSettled([double(1), double(0)])
  expect(failed).toMatchObject([1, 0].map(() => ({ reason: { message: 'none of these' } })))
})
