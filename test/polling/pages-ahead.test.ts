import { expect, test } from 'vitest'
import { pagesAhead } from '../../src/polling/pages-ahead.ts'
import type { CallPage } from '../../src/service/calls-client.ts'

function recorded() {
  const asked: number[] = []
  const fetchPage = async (page: number): Promise<CallPage> => {
    asked.push(page)
    if (page === 13) throw new Error('page 13 cannot be read')
    return { page, calls: [], rejected: {}, items: 0, keys: [], total: 0, totalPages: 0, now: 0, host: 0, remaining: 0 }
  }
  return { asked, ahead: pagesAhead(fetchPage) }
}

test('pages come in the order in which they are wanted, each asked for once', async () => {
  const { asked, ahead } = recorded()
  ahead.want([1, 2, 3], 2)
  expect((await ahead.next()).page).toBe(1)
  ahead.want([2, 3, 4], 3)
  expect(asked).toEqual([1, 2, 3, 4])
  expect([(await ahead.next()).page, (await ahead.next()).page, (await ahead.next()).page]).toEqual([2, 3, 4])
  expect(ahead.isEmpty()).toBe(true)
})

test('what was on its way and is not wanted after all is dropped, and asked for anew if it is wanted later', async () => {
  const { asked, ahead } = recorded()
  ahead.want([5, 6, 7], 3)
  await ahead.next()
  ahead.want([4, 5, 6], 2)
  expect([(await ahead.next()).page, (await ahead.next()).page]).toEqual([4, 5])
  expect(asked).toEqual([5, 6, 7, 4, 5])
  ahead.want([6, 7, 8], 3)
  ahead.want([6, 7, 1], 3)
  expect(asked).toEqual([5, 6, 7, 4, 5, 6, 7, 8, 1])
})

test('where no more is to be asked for, what is on its way still comes', async () => {
  const { asked, ahead } = recorded()
  ahead.want([1, 2, 3], 2)
  await ahead.next()
  ahead.want([2, 3, 4], 0)
  expect((await ahead.next()).page).toBe(2)
  expect([ahead.isEmpty(), asked]).toEqual([true, [1, 2]])
})

test('a page that cannot be read fails whoever waits for it, and nobody else', async () => {
  const { ahead } = recorded()
  ahead.want([12, 13], 2)
  expect((await ahead.next()).page).toBe(12)
  await expect(ahead.next()).rejects.toThrow('page 13')
  ahead.want([13], 1)
  ahead.want([1], 1)
  expect((await ahead.next()).page).toBe(1)
})
