import { expect, test } from 'vitest'
import { pollConfig } from '../../kit/pipeline/settings.ts'
import { LIMIT, NOTHING_GRANTED, sharing } from './sharing.ts'

test('a daemon that has its store for itself opens each target once', async () => {
  const { clock, opened, give } = await sharing(['a', 'b'])
  for (const name of ['a', 'b']) give(name)
  await clock.advance(20)
  expect(opened).toHaveLength(2)
})

test('the part of the limit of a removed target goes to the others with its key', async () => {
  const { clock, give, limits, remove } = await sharing(['a', 'b', 'c'], { isShared: true })
  give('a')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  await remove('b')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 2)
})

const FREE = { rateLimiter: { ...NOTHING_GRANTED, take: async () => undefined } }

test('the first poll is due when the targets run, however long the start took', async () => {
  const { clock, give, polled } = await sharing(['a', 'b'], { ...FREE, startsAfter: 10 })
  for (const name of ['a', 'b']) give(name)
  await clock.advance(2)
  expect(polled.toSorted()).toEqual(['a', 'b'])
})

test('a target that is removed and added again while the store cannot be written is polled again', async () => {
  const { clock, give, polled, remove, reload, gate, watched } = await sharing(['a', 'b'], FREE)
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
  expect(watched.loaded().map(({ name }) => name)).toEqual(['a', 'b'])
  expect(polled).toContain('b')
})

test('a target that was loaded while settings were reloaded is shown with the active ones', async () => {
  const { clock, give, reload, gate, watched } = await sharing(['a'], { isShared: true })
  await reload({ poll: { ...pollConfig(), interval: 77 } })
  const loading = Promise.withResolvers<void>()
  gate.loads = loading.promise
  const { again } = give('a')
  await clock.advance(1)
  await reload({ poll: { ...pollConfig(), interval: 99 } })
  loading.resolve()
  await clock.advance(5)
  again()
  await clock.advance(5)
  expect(watched.loaded()[0]!.settings.poll.interval).toBe(99)
})
