import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/clock/clock.ts'
import type { Connection } from '../../../../src/store/postgres/connection.ts'
import { openPool } from '../../../../src/store/postgres/pool.ts'
import { HungError } from '../../../../src/store/postgres/postgres-error.ts'
import { StoreError } from '../../../../src/store/store-error.ts'

/** A pool of connections that do nothing, each with its number, and a clock that stands. */
function pooled(size: number, openings: (() => Error | undefined)[] = []) {
  const state = { opened: 0, closed: [] as number[], givenUp: [] as number[], unwanted: 0, now: 0 }
  const open = async (): Promise<Connection> => {
    const problem = openings[state.opened]?.()
    const number = ++state.opened
    if (problem !== undefined) throw problem
    let isDropped = false
    return {
      place: `connection ${number}`,
      host: { host: 'here', port: number },
      isDropped: () => isDropped,
      isDirect: () => true,
      drop: () => void (isDropped = true),
      close: async () => void state.closed.push(number),
      [Symbol.asyncDispose]: async () => undefined,
      run: async () => [],
      each: async () => undefined,
      prepare: async () => undefined,
    }
  }
  const pool = openPool({
    open,
    size,
    clock: { ...systemClock, monotonic: () => state.now },
    isWanted: ({ host }) => host.port > state.unwanted,
    giveUp: ({ host }) => void state.givenUp.push(host.port),
  })
  return { state, pool }
}

const silent = () => new StoreError('unavailable', 'silent', new HungError('nothing was heard'))
const nameOf = async ({ place }: Connection) => place

test('connections are used again, and never more of them at once than there may be', async () => {
  const { pool, state } = pooled(3)
  let [busy, most] = [0, 0]
  const work = async () => {
    most = Math.max(most, ++busy)
    await new Promise(setImmediate)
    busy -= 1
  }
  await Promise.all(Array.from({ length: 20 }, () => pool.use(work)))
  expect([most, state.opened]).toEqual([3, 3])
})

test('one that was dropped, or is too old, is not used again', async () => {
  const { pool, state } = pooled(1)
  expect(await pool.use(nameOf)).toBe('connection 1')
  await pool.use(async ({ drop }) => drop(new Error('cut')))
  expect(await pool.use(nameOf)).toBe('connection 2')
  state.now += 1799
  expect(await pool.use(nameOf)).toBe('connection 2')
  state.now += 1
  expect([await pool.use(nameOf), state.closed]).toEqual(['connection 3', [2]])
})

test('one to a host that is not the wanted one any more is not used again', async () => {
  const { pool, state } = pooled(2)
  const both = () => Promise.all([pool.use(nameOf), pool.use(nameOf)])
  expect(await both()).toEqual(['connection 1', 'connection 2'])
  state.unwanted = 2
  expect(await both()).toEqual(['connection 3', 'connection 4'])
  expect(new Set(state.closed)).toEqual(new Set([1, 2]))
})

test.each([
  ['silent', silent()],
  ['read-only', new StoreError('unavailable', 'read-only', Object.assign(new Error('no'), { code: '25006' }))],
  ['taking too long', new StoreError('unavailable', 'slow', Object.assign(new Error('slow'), { code: '57014' }))],
])('a host is given up where it is found %s, and for no other failure', async (_how, error) => {
  const { pool, state } = pooled(1)
  await expect(pool.use(() => Promise.reject(new StoreError('stale', 'moved')))).rejects.toThrow('moved')
  expect(state.givenUp).toEqual([])
  await expect(pool.use(() => Promise.reject(error))).rejects.toBe(error)
  expect(state.givenUp).toEqual([1])
})

test('who waits fails with the one that finds the database silent, instead of finding it out for itself', async () => {
  const { pool } = pooled(1)
  const { promise, reject } = Promise.withResolvers<never>()
  const first = pool.use(() => promise)
  const waiting = [pool.use(nameOf), pool.use(nameOf)]
  reject(silent())
  for (const failed of [first, ...waiting]) await expect(failed).rejects.toThrow('silent')
  expect(await pool.use(nameOf)).toBe('connection 1')
})

test('who waits goes on where it was only one statement that failed', async () => {
  const { pool } = pooled(1)
  const { promise, reject } = Promise.withResolvers<never>()
  const first = pool.use(() => promise)
  const second = pool.use(nameOf)
  reject(new StoreError('unavailable', 'wrong'))
  await expect(first).rejects.toThrow('wrong')
  expect(await second).toBe('connection 1')
})

test('who waits fails where no connection can be made, and the next one may try again', async () => {
  const { pool } = pooled(1, [() => silent()])
  const all = [pool.use(nameOf), pool.use(nameOf)]
  for (const failed of all) await expect(failed).rejects.toThrow('silent')
  expect(await pool.use(nameOf)).toBe('connection 2')
})

test('closed, it closes what is free at once and what is busy afterwards, and takes nothing more', async () => {
  const { pool, state } = pooled(2)
  const { promise, resolve } = Promise.withResolvers<void>()
  const busy = pool.use(() => promise)
  await pool.use(nameOf)
  await pool.close()
  expect(state.closed).toEqual([2])
  await expect(pool.use(nameOf)).rejects.toThrow('the store is closed')
  resolve()
  await busy
  expect(state.closed).toEqual([2, 1])
})
