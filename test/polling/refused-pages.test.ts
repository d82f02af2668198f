import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../src/service/service-error.ts'
import { polling, numbered } from './polling.ts'

describe('a service that refuses deep pages', () => {
  const refuseFrom = (depth: number) => (_operation: string, page: number | string) =>
    typeof page === 'number' && page >= depth
      ? new ServiceError('refused', `page ${page} exceeds the allowed maximum of 1000 records`, { status: 400 })
      : undefined

  test('newest first, makes polls limited but successful, and the pages that it shows count', async () => {
    const { service, poll, next, memory, tracked } = polling()
    service.calls = numbered(1, 100)
    service.fails = refuseFrom(5)
    expect((await poll()).problem?.kind).toBe('refused')
    const { success, limited } = await poll()
    expect([success?.movesHorizon, limited, memory.refusedFrom, tracked()]).toEqual([true, true, 5, 16])
    service.calls = numbered(0, 100)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('only once had a transient error, and the sweep continues with that page', async () => {
    const { service, poll, memory } = polling()
    service.calls = numbered(1, 24)
    service.fails = refuseFrom(3)
    expect((await poll()).success).toBeUndefined()
    service.fails = () => undefined
    expect((await poll()).limited).toBe(false)
    expect(memory.refusedFrom).toBeUndefined()
  })

  test('only from some moment on is read from its first page again, not one page back in each poll', async () => {
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

  test('differs from one whose deep pages fail in another way, however often', async () => {
    const { service, poll, memory } = polling()
    service.calls = numbered(1, 24)
    service.fails = (_operation, page) => (Number(page) >= 3 ? new ServiceError('server', 'it is down') : undefined)
    for (let i = 0; i < 3; i++) {
      const { success, limited, problem } = await poll()
      expect([success, limited, problem?.kind, memory.refusedFrom]).toEqual([undefined, false, 'server', undefined])
    }
  })

  test('differs from one whose list ends there: when the list has grown to the refused pages, polls are not successful', async () => {
    const { service, poll, next } = polling()
    service.says = { total: undefined, totalPages: undefined }
    service.fails = refuseFrom(6)
    service.calls = numbered(3, 20).toReversed()
    expect((await next())[0]).toBe('complete')
    service.calls = numbered(-3, 20).toReversed()
    for (let polls = 0; polls < 4; polls++) expect((await poll()).success).toBeUndefined()
  })

  test('oldest first, makes polls unsuccessful, because new calls are on those pages', async () => {
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
