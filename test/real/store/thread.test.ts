import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { AnswerLost } from '../../../src/store/sql.ts'
import { storeOn } from '../../../src/store/store-on.ts'
import { openEngine } from '../../../src/store/sqlite/open-database.ts'
import { sqliteSql, type AskEngine } from '../../../src/store/sqlite/sqlite-sql.ts'
import type { Store } from '../../../src/store/store.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, commitOf, DAY, filled, many, openIn } from '../../kit/store/place.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const newPath = () => join(temporaryFolder(), 'callwatch.db')

async function open(path: string, receivers?: readonly string[]) {
  const store = await openSqliteDaemonStore({ path, receivers })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** Each thread that is started from now on. */
function threads(onStart: (thread: Worker) => void): void {
  process.on('worker', onStart)
  onTestFinished(() => void process.off('worker', onStart))
}

describe('the thread of the SQLite store', () => {
  test('fails at the start with what the engine fails with', async () => {
    const path = newPath()
    await open(path)
    await expect(open(path)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('in use by'),
    })
  })

  test('reads a target of many calls in parts', async () => {
    const path = newPath()
    const store = await open(path)
    const ended = many(12_003)
    await filled(store, A, ended, Object.keys(ended).slice(0, 6001))
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    expect(ledger.calls.size).toBe(6001)
    expect(ledger.finished.tally(0, Infinity)).toMatchObject([{ n: 12_003 }])
  })

  test('keeps what was committed when it ends, and is started again by the next request', async () => {
    const started: Worker[] = []
    threads((thread) => started.push(thread))
    const { store, see, deltaOf, ledger } = await openIn(await open(newPath()))
    await see(completePoll(10, seen('c1', 'ongoing')))
    await started[0]!.terminate()
    await see(completePoll(20, seen('c1', 'ongoing'), seen('c2', 'ongoing')))
    expect(started.length).toBe(2)
    const unanswered = store.commit('a', commitOf(deltaOf(completePoll(30, seen('c3', 'ongoing')))))
    await Promise.all([started[1]!.terminate(), unanswered.catch(() => undefined)])
    const again = await store.openTarget(A, CREATED, DAY)
    const wasDone = again.ledger.sync.seq > ledger.sync.seq
    expect([...again.ledger.calls.values()].map(({ id }) => id)).toEqual(wasDone ? ['c1', 'c2', 'c3'] : ['c1', 'c2'])
    if (wasDone) await expect(unanswered).resolves.toBeUndefined()
    else await expect(unanswered).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('that ends once is a store that is unavailable, however many requests were waiting', async () => {
    const started: Worker[] = []
    threads((thread) => started.push(thread))
    const store = await open(newPath())
    const waiting = Array.from({ length: 12 }, () => store.silences(CREATED).catch((error: unknown) => error))
    await started[0]!.terminate()
    for (const answer of await Promise.all(waiting))
      if (!Array.isArray(answer)) expect(answer).toMatchObject({ kind: 'unavailable' })
    expect(await store.silences(CREATED)).toEqual([])
  })

  test('that ends again and again is a store that is refused, with the reason', async () => {
    let ending = false
    const started: Worker[] = []
    threads((thread) => {
      started.push(thread)
      if (ending) void thread.terminate()
    })
    const store = await open(newPath())
    ending = true
    await started[0]!.terminate()
    const errors: unknown[] = []
    for (let i = 0; i < 4; i++) errors.push(await store.silences(CREATED).catch((error: unknown) => error))
    expect(errors).toMatchObject([...Array.from({ length: 3 }, () => ({ kind: 'unavailable' })), { kind: 'refused' }])
    expect(errors.at(-1)).toMatchObject({
      message: expect.stringMatching(/its thread ended \(exit code \d\), 5 times/),
    })
  })
})

function storeOf(ask: AskEngine): Store {
  const sql = sqliteSql(ask, 'here')
  return storeOn(sql, { receivers: undefined, reading: sql }).store
}

test('a target is not loaded in part when the engine of the SQLite store ends in between', async () => {
  const path = newPath()
  let engine = openEngine({ path })
  let isFilled = false
  const store = storeOf(async (request) => {
    if (request.do === 'next' && isFilled) {
      engine({ do: 'close' })
      engine = openEngine({ path })
    }
    return engine(request)
  })
  await filled(store, A, many(10), ['call 1'])
  isFilled = true
  await expect(store.openTarget(A, CREATED, DAY)).rejects.toMatchObject({ kind: 'unavailable' })
  await store.close()
})

describe('a commit that was not answered because the engine of the SQLite store ended', () => {
  /** The engine ends after the next commit, or before it. */
  async function ending(when: 'before' | 'after') {
    const engine = openEngine({ path: ':memory:' })
    let isEnding = false
    const ask: AskEngine = async (request) => {
      const ends = request.do === 'batch' && isEnding
      if (ends && when === 'before') throw new AnswerLost('it ended')
      const value = engine(request)
      if (ends) throw new AnswerLost('it ended')
      return value
    }
    const target = await openIn(storeOf(ask))
    isEnding = true
    return target
  }

  test('succeeds where the store has it', async () => {
    const { see, store } = await ending('after')
    await see(completePoll(10, seen('c1', 'ongoing')))
    expect((await store.openTarget(A, CREATED, DAY)).ledger.calls.size).toBe(1)
  })

  test('fails where the store does not have it', async () => {
    const { see, store } = await ending('before')
    await expect(see(completePoll(10, seen('c1', 'ongoing')))).rejects.toMatchObject({ kind: 'unavailable' })
    expect((await store.openTarget(A, CREATED, DAY)).ledger.calls.size).toBe(0)
  })
})

describe('queries of the SQLite store', () => {
  /** Takes about a second. */
  const LONG =
    'WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 5000000) SELECT count(*) AS n FROM counted'
  const names = async (store: Store) =>
    (await store.rows('SELECT name FROM callwatch.targets WHERE name = $1', ['a'])).length

  test('delay no commit, and see what was committed before them', async () => {
    const store = await open(newPath())
    const { see } = await openIn(store)
    expect(await names(store)).toBe(1)
    const done: string[] = []
    const query = store.rows(LONG, []).then(([row]) => done.push(`query of ${String(row!['n'])}`))
    await see(completePoll(5, seen('c', 'ended', { endedAt: CREATED + 4 })))
    done.push('commit')
    await query
    expect(done).toEqual(['commit', 'query of 5000000'])
  })

  test('share a thread of their own, which the first one starts', async () => {
    const started: Worker[] = []
    const store = await open(newPath())
    await openIn(store)
    threads((thread) => started.push(thread))
    await Promise.all([names(store), names(store)])
    await names(store)
    expect(started).toHaveLength(1)
  })

  test('end their thread after ten seconds without one, not while one runs, and the next one starts it again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const started: Worker[] = []
    const store = await open(newPath())
    threads((thread) => started.push(thread))
    const isEnded = () => once(started.at(-1)!, 'exit')
    const one = () => store.rows('SELECT 1 AS n', [])
    await one()
    vi.advanceTimersByTime(9000)
    await one()
    vi.advanceTimersByTime(9000)
    const running = store.rows(LONG, [])
    vi.advanceTimersByTime(60_000)
    await running
    expect(await one()).toEqual([{ n: 1 }])
    expect(started.length).toBe(1)
    const ended = isEnded()
    vi.advanceTimersByTime(10_000)
    await ended
    expect(await one()).toEqual([{ n: 1 }])
    expect(started.length).toBe(2)
  })

  test('that fail are refused, and the next ones are not; none writes', async () => {
    const store = await open(newPath())
    await openIn(store)
    await expect(store.rows('SELECT none_such FROM callwatch.calls', [])).rejects.toThrow(/no such column/)
    await expect(store.rows('DELETE FROM callwatch.targets', [])).rejects.toThrow(/readonly/)
    expect(await names(store)).toBe(1)
  })

  test('are refused once the store is closed, those that run as well; closing waits for none', async () => {
    const store = await openSqliteDaemonStore({ path: newPath() })
    await openIn(store)
    let isOver = false
    threads((thread) => void thread.once('exit', () => (isOver = true)))
    // Its thread runs, so that the long query begins at once, and takes seconds.
    await names(store)
    const running = store.rows(LONG.replace('5', '25'), []).catch((error: unknown) => error)
    // It has begun by then.
    await wait(50)
    const again = store.rows(LONG, []).catch((error: unknown) => error)
    await store.close()
    expect(isOver).toBe(false)
    const isClosed = expect.stringContaining('is closed')
    expect([await running, await again].map(String)).toEqual([isClosed, isClosed])
    await expect(names(store)).rejects.toThrow('is closed')
  })

  test('are of a store in memory as well', async () => {
    const store = await open(':memory:')
    await openIn(store)
    expect(await names(store)).toBe(1)
  })
})
