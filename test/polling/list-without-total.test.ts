import { describe, expect, test } from 'vitest'
import { CREATED } from '../ledger/seen.ts'
import { call, polling, numbered } from './polling.ts'

/** Pseudo-random numbers below 1, the same in each run. */
function seededRandom(): () => number {
  let state = 1
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

describe('a list without a total, to which calls are added all the time', () => {
  test('is complete at its empty page, even if its order changes in every poll', async () => {
    const { service, wait, poll, newest } = polling({ pageSize: 2 })
    const random = seededRandom()
    service.says = { total: undefined, totalPages: undefined }
    service.calls = numbered(1, 80)
    service.beforePage = (page) => {
      wait(5)
      if (page === 1) service.calls = [...numbered(newest(), newest()), ...service.calls]
      service.calls = service.calls
        .map((call) => ({ call, place: random() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ call }) => call)
    }
    let complete = 0
    for (let polls = 0; polls < 300; polls++) if ((await poll()).success?.movesHorizon) complete += 1
    expect(complete).toBeGreaterThan(3)
  })

  test('ends at its empty page, though its pages are without order, repeat calls of the page before, and have invalid items', async () => {
    const { service, wait, clock, poll } = polling()
    service.says = { total: undefined, totalPages: undefined }
    service.calls = Array.from({ length: 40 }, (_none, n) => call(((n * 17) % 41) + 1))
    const { client } = service
    const { listCalls } = client
    let unreadable = 0
    client.listCalls = async (page, signal) => {
      const before = page > 1 ? service.calls.slice((page - 1) * 4 - 2, (page - 1) * 4) : []
      const shown = await listCalls(page, signal)
      const all = [...before, ...shown.calls]
      const calls = page === 5 ? all.slice(1) : all
      const unusable = page === 5 ? [`unusable ${(unreadable += 1)}`] : []
      return { ...shown, calls, keys: [...unusable, ...calls.map(({ id }) => id)], items: all.length }
    }
    service.beforePage = (page) => {
      wait(5)
      service.ahead += 5
      if (page !== 1) return
      const fresh = Math.floor(CREATED - clock.wall() - service.ahead)
      service.calls = [...service.calls.slice(0, 10), call(fresh), ...service.calls.slice(10)]
    }
    let complete = 0
    for (let polls = 0; polls < 100; polls++) if ((await poll()).success?.movesHorizon) complete += 1
    expect(complete).toBeGreaterThan(2)
  })

  test('is read as far as pages show anything new if the last page repeats', async () => {
    const { service, wait, poll, newest } = polling()
    service.says = { total: undefined, totalPages: undefined }
    service.calls = numbered(1, 40)
    const { client } = service
    const { listCalls } = client
    client.listCalls = (page, signal) => listCalls(Math.min(page, 5), signal)
    service.beforePage = (page) => {
      wait(5)
      if (page === 1) service.calls = [...numbered(newest(), newest()), ...service.calls]
    }
    let limited = 0
    for (let polls = 0; polls < 60; polls++) if ((await poll()).limited) limited += 1
    expect(limited).toBeGreaterThan(3)
  })
})
