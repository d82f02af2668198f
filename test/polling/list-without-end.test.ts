import { describe, expect, test } from 'vitest'
import { polling, numbered } from './polling.ts'

/** Numbers below 1 that say the same in each run. */
function drawn(): () => number {
  let state = 1
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

describe('a list without a total, to which calls come in all the time', () => {
  test('ends at its empty page, however often its order changes', async () => {
    const { service, wait, poll, newest } = polling({ pageSize: 2 })
    const draw = drawn()
    service.says = { total: undefined, totalPages: undefined }
    service.calls = numbered(1, 80)
    service.beforePage = (page) => {
      wait(5)
      if (page === 1) service.calls = [...numbered(newest(), newest()), ...service.calls]
      service.calls = service.calls
        .map((call) => ({ call, place: draw() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ call }) => call)
    }
    let wholes = 0
    for (let looks = 0; looks < 300; looks++) if ((await poll()).end?.complete) wholes += 1
    expect(wholes).toBeGreaterThan(3)
  })

  test('is read as far as pages show anything, where the last page comes again and again', async () => {
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
    for (let looks = 0; looks < 60; looks++) if ((await poll()).limited) limited += 1
    expect(limited).toBeGreaterThan(3)
  })
})
