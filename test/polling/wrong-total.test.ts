import { describe, expect, test } from 'vitest'
import { isTotalUseless } from '../../src/ledger/list-traits.ts'
import { CREATED } from '../ledger/seen.ts'
import { call, polling, numbered } from './polling.ts'

describe('a total that counts something else', () => {
  test.each([
    ['is always 0', () => 0],
    ['counts the page alone', (items: number) => items],
  ])('hides no call if it %s', async (_what, totalOf) => {
    const { service, poll, memory, tracked } = polling()
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => {
      const listed = await listCalls(page, signal)
      return { ...listed, total: totalOf(listed.items), totalPages: undefined }
    }
    service.calls = numbered(1, 14)
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect(tracked()).toBe(14)
    service.calls = [call(0), ...service.calls]
    await poll()
    expect(tracked()).toBe(15)
    expect(isTotalUseless(memory.traits, 99, CREATED + 60)).toBe(true)
    expect(isTotalUseless(memory.traits, 99, CREATED + 100_000)).toBe(false)
  })
})

describe('pages that get shorter', () => {
  test('are all read, even of a list that is oldest first', async () => {
    const { service, poll, tracked, memory } = polling({ pageSize: 12 })
    service.calls = numbered(1, 40).toReversed()
    await poll()
    const { listCalls } = service.client
    // Of twelve requested calls, four are shown.
    service.client.listCalls = async (page, signal) => {
      const listed = await listCalls(1, signal)
      const calls = service.calls.slice((page - 1) * 4, page * 4)
      const keys = calls.map(({ id }) => id)
      return { ...listed, page, calls, keys, items: calls.length, totalPages: undefined }
    }
    service.calls = [...service.calls, call(0), call(-1)]
    for (let polls = 0; polls < 6; polls++) await poll()
    expect(tracked()).toBe(42)
    expect(memory.traits.hidden).toBe(0)
  })
})

describe('more new calls than a poll can read', () => {
  test('are read over several polls, each of which continues the one before', async () => {
    const { service, wait, poll, tracked } = polling()
    service.calls = numbered(1, 40)
    await poll()
    service.calls = numbered(-59, 40)
    service.beforePage = () => void wait(6)
    let polls = 0
    while ((await poll()).success === undefined && polls < 30) polls += 1
    expect(polls).toBeLessThan(15)
    expect(tracked()).toBe(100)
  })
})
