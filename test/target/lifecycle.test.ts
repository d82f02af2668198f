import { expect, test } from 'vitest'
import type { MissedCommit } from '../../src/store/sharing.ts'
import { pollConfig } from './settings.ts'
import { LIMIT, NOTHING_GRANTED, sharing } from './sharing.ts'

test('a daemon that has its store for itself opens each target once', async () => {
  const { clock, opened, give } = await sharing(['a', 'b'])
  for (const name of ['a', 'b']) give(name)
  await clock.advance(20)
  expect(opened).toHaveLength(2)
})

test('a target whose tenure ends before it was opened is still replicated', async () => {
  let gate = Promise.resolve<MissedCommit[]>([])
  let asked: string[] = []
  const { clock, give } = await sharing(['a'], async (names) => {
    asked.push(...names)
    return gate
  })
  await clock.advance(2)
  const slow = Promise.withResolvers<MissedCommit[]>()
  gate = slow.promise
  const { release } = give('a')
  await clock.advance(0)
  release()
  slow.resolve([])
  gate = Promise.resolve([])
  await clock.advance(3)
  asked = []
  await clock.advance(3)
  expect(asked).toEqual(['a', 'a', 'a'])
})

test('a target that is opened again does not change its part of the shared limit of its key', async () => {
  let isGap = false
  const { clock, give, limits, watched } = await sharing(['a', 'b', 'c'], async (names) =>
    isGap && names.includes('b') ? [{ target: 'b', commit: undefined }] : [],
  )
  give('a')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  const before = watched.all().map(({ ledger }) => ledger)
  isGap = true
  await clock.advance(2)
  expect(watched.all().map(({ ledger }, i) => ledger === before[i])).toEqual([true, false, true])
  expect(limits.at(-1)).toBe(LIMIT / 3)
  expect(Math.max(...limits)).toBe(LIMIT / 3)
})

test('the part of the limit of a removed target goes to the others with its key', async () => {
  const { clock, give, limits, remove } = await sharing(['a', 'b', 'c'], async () => [])
  give('a')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  await remove('b')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 2)
})

const FREE = { rateLimiter: { ...NOTHING_GRANTED, take: async () => undefined } }

test('the first poll is due when the targets run, however long the start took', async () => {
  const { clock, give, polled } = await sharing(['a', 'b'], undefined, { ...FREE, startsAfter: 10 })
  for (const name of ['a', 'b']) give(name)
  await clock.advance(2)
  expect(polled.toSorted()).toEqual(['a', 'b'])
})

test('a target that is removed and added again while the store cannot be written is polled again', async () => {
  const { clock, give, polled, remove, reload, gate, watched } = await sharing(['a', 'b'], undefined, FREE)
  for (const name of ['a', 'b']) give(name)
  await clock.advance(20)
  gate.isAway = true
  await remove('b')
  await clock.advance(3)
  await reload({})
  await clock.advance(3)
  gate.isAway = false
  await clock.advance(3)
  give('b')
  polled.length = 0
  await clock.advance(40)
  expect(watched.all().map(({ name }) => name)).toEqual(['a', 'b'])
  expect(polled).toContain('b')
})

test('a replica shows the settings of the active configuration, also where it is loaded while that is reloaded', async () => {
  let isGap = false
  const { clock, reload, gate, watched } = await sharing(['a'], async (names) =>
    isGap ? names.map((target) => ({ target, commit: undefined })) : [],
  )
  await clock.advance(1)
  const loading = Promise.withResolvers<void>()
  gate.loads = loading.promise
  isGap = true
  await clock.advance(1)
  isGap = false
  await reload({ poll: { ...pollConfig(), interval: 77 } })
  loading.resolve()
  await clock.advance(5)
  expect(watched.all()[0]!.settings.poll.interval).toBe(77)
})

test('what is loaded in a tenure that has ended meanwhile does not change what is shown', async () => {
  const { clock, give, reload, gate, watched } = await sharing(['a'], async () => [])
  await reload({ poll: { ...pollConfig(), interval: 77 } })
  const loading = Promise.withResolvers<void>()
  gate.loads = loading.promise
  const { release } = give('a')
  await clock.advance(1)
  await reload({ poll: { ...pollConfig(), interval: 99 } })
  release()
  await clock.advance(1)
  loading.resolve()
  await clock.advance(5)
  expect(watched.all()[0]!.settings.poll.interval).toBe(99)
})

test('a replica shows the pause of its key', async () => {
  const { watched } = await sharing(['a'], async () => [])
  expect(watched.all()[0]!.pausedFor()).toBe(77)
})
