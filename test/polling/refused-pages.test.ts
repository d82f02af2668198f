import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../src/service/service-error.ts'
import { polling, numbered } from './polling.ts'

describe('deep pages that the service refuses', () => {
  const refuseFrom = (depth: number) => (_operation: string, page: number | string) =>
    typeof page === 'number' && page >= depth
      ? new ServiceError('refused', `page ${page} exceeds the allowed maximum of 1000 records`, { status: 400 })
      : undefined

  test('of a list that is newest first make polls limited but successful, and the pages before them count', async () => {
    const { service, poll, next, memory, tracked } = polling()
    service.calls = numbered(1, 100)
    service.fails = refuseFrom(5)
    expect((await poll()).problem?.kind).toBe('refused')
    const { success, limited } = await poll()
    expect([success?.movesHorizon, limited, memory.refusedFrom, tracked()]).toEqual([true, true, 5, 16])
    service.calls = numbered(0, 100)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('are read by the next poll if they were refused only once', async () => {
    const { service, poll, memory } = polling()
    service.calls = numbered(1, 24)
    service.fails = refuseFrom(3)
    expect((await poll()).success).toBeUndefined()
    service.fails = () => undefined
    expect((await poll()).limited).toBe(false)
    expect(memory.refusedFrom).toBeUndefined()
  })

  test('and were shown before make the sweep start again at the first page, not one page back in each poll', async () => {
    const { service, wait, poll, memory } = polling()
    service.calls = numbered(1, 100)
    service.beforePage = () => void wait(2)
    for (let polls = 0; polls < 3; polls++) expect((await poll()).success).toBeUndefined()
    expect(memory.foreground?.page).toBeGreaterThan(15)
    service.fails = refuseFrom(5)
    for (let polls = 0; polls < 3; polls++) expect((await poll()).problem?.kind).toBe('refused')
    const { success, limited } = await poll()
    expect([success?.movesHorizon, limited, memory.refusedFrom]).toEqual([true, true, 5])
  })

  test('limit polls, but pages that fail in another way never do', async () => {
    const { service, poll, memory } = polling()
    service.calls = numbered(1, 24)
    service.fails = (_operation, page) => (Number(page) >= 3 ? new ServiceError('server', 'it is down') : undefined)
    for (let i = 0; i < 3; i++) {
      const { success, limited, problem } = await poll()
      expect([success, limited, problem?.kind, memory.refusedFrom]).toEqual([undefined, false, 'server', undefined])
    }
  })

  test('are not past the last page: once the list has grown to them, polls are not successful', async () => {
    const { service, poll, next } = polling()
    service.says = { total: undefined, totalPages: undefined }
    service.fails = refuseFrom(6)
    service.calls = numbered(3, 20).toReversed()
    expect((await next())[0]).toBe('complete')
    service.calls = numbered(-3, 20).toReversed()
    for (let polls = 0; polls < 4; polls++) expect((await poll()).success).toBeUndefined()
  })

  test('of a list that is oldest first make polls unsuccessful, because new calls are on them', async () => {
    const { service, poll, memory } = polling({ pageSize: 12 })
    service.calls = numbered(1, 100).toReversed()
    service.fails = refuseFrom(5)
    await poll()
    const { success, problem } = await poll()
    expect(success).toBeUndefined()
    expect(problem?.message).toContain('refuses page 9')
    expect(memory.refusedFrom).toBe(9)
  })
})
