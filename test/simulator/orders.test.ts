import { expect, test } from 'vitest'

import { setSwitches } from '../../src/simulator/create-service.ts'
import { heal } from '../../src/simulator/heal.ts'
import { truth } from '../../src/simulator/truth.ts'
import { advance } from '../../src/simulator/world.ts'
import { ask, idsOf, list, serviceOf, START } from './asked-service.ts'

const isDescending = (values: number[]): boolean => values.every((value, i) => i === 0 || values[i - 1]! >= value)

test('ordered by type, video calls come first and each type begins with its newest call', () => {
  const { data } = list(serviceOf({ switches: { order: 'type' } }), START)
  const firstAudio = data.findIndex(({ type }) => type === 'audio')
  expect(firstAudio).toBeGreaterThan(10)
  const blocks = [data.slice(0, firstAudio), data.slice(firstAudio)]
  expect(blocks.map((block) => new Set(block.map(({ type }) => type)).size)).toEqual([1, 1])
  for (const block of blocks) expect(isDescending(block.map(({ initiatedAt }) => initiatedAt))).toBe(true)
})

test('ordered by startedAt, calls that nobody answered come last', () => {
  const { data } = list(serviceOf({ switches: { order: 'startedAt' } }), START)
  const started = data.flatMap(({ startedAt }) => startedAt ?? [])
  expect(started.length).toBeGreaterThan(30)
  expect(started.length).toBeLessThan(data.length)
  expect(isDescending(started)).toBe(true)
  expect(data.slice(started.length).every(({ startedAt }) => startedAt === undefined)).toBe(true)
})

test('ordered by endedAt, calls that never end come first', () => {
  const { data } = list(serviceOf({ switches: { order: 'endedAt', facts: { stuck: 0.3 } } }), START)
  const open = data.filter(({ endedAt }) => endedAt === undefined)
  expect(open.length).toBeGreaterThan(5)
  expect(data.slice(0, open.length)).toEqual(open)
  expect(isDescending(data.slice(open.length).map(({ endedAt }) => endedAt!))).toBe(true)
})

test('calls that are stuck are ongoing until the world is healed, and over then', () => {
  const service = serviceOf({ switches: { facts: { stuck: 1 } } })
  const ongoing = () => list(service, START + 40_000).data.filter(({ status }) => status === 'ongoing')
  expect(ongoing().length).toBeGreaterThan(30)
  heal(service)
  advance(service.world, START + 40_001, service.switches)
  expect(list(service, START + 40_001).data.filter(({ endedAt }) => endedAt === undefined)).toEqual([])
})

test('imported calls come in on top by when they were inserted, were over long ago and count nowhere', () => {
  const service = serviceOf({ switches: { order: 'inserted', imports: 3 } })
  const before = idsOf(list(service, START))
  const after = list(service, START + 7200)
  const imported = after.data.slice(0, after.data.length - before.length)
  expect(imported.length).toBeGreaterThan(30)
  expect(idsOf(after).slice(imported.length)).toEqual(before)
  for (const { endedAt } of imported) expect(endedAt).toBeLessThan(START - 86_400)
  for (const { sessionId } of imported.slice(0, 3))
    expect(ask(service, START + 7200, `/v3/calls/${encodeURIComponent(sessionId)}`).status).toBe(200)
  const options = { created: START, baseline: 'skip', now: START + 7200 } as const
  const except = new Set(idsOf(after).slice(0, imported.length))
  expect(truth(service.world.ledger, options)).toEqual(truth(service.world.ledger, { ...options, except }))
})

test('imports change nothing about any other call', () => {
  const ledgers = [0, 60].map((imports) => {
    const service = serviceOf({ callsPerMinute: 5, switches: { imports } })
    setSwitches(service, {})
    advance(service.world, START + 3600, service.switches)
    return service.world.ledger.filter(({ event }) => event !== 'imported')
  })
  expect(ledgers[1]).toEqual(ledgers[0])
})
