import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { computeDelta, type LedgerOptions } from '../../../src/ledger/delta/compute-delta.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { completePoll, contents, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, commitOf, DAY } from '../../kit/store/place.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'

const OPTIONS: LedgerOptions = { lookback: DAY, baseline: 'skip', details: 'never' }
const HISTORY = 4 * DAY
const CALLS_AN_HOUR = 40
/** Hours between two polls: each commit waits for the disk. */
const HOURS = 3

/** The size of the file without the log of writes, which grows until it is written back. */
const PAGES = 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'

test('over weeks the file stays as large as lookback and history make it, and memory as large as the lookback', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  const { ledger } = await store.openTarget(A, CREATED, DAY)
  const sizes: number[] = []
  let listed = [seen('first', 'ended', { endedAt: CREATED })]
  for (let hour = HOURS; hour <= 24 * 21; hour += HOURS) {
    const now = hour * 3600
    const times = { initiatedAt: CREATED + now - 90, startedAt: CREATED + now - 80, endedAt: CREATED + now - 5 }
    const calls = Array.from({ length: HOURS * CALLS_AN_HOUR }, (_, n) => seen(`call ${hour} ${n}`, 'ended', times))
    listed = [...calls, ...listed].slice(0, 30 * CALLS_AN_HOUR)
    const delta = computeDelta(ledger, completePoll(now, ...listed), OPTIONS)!
    await store.commit('a', commitOf(delta))
    applyDelta(ledger, delta, DAY)
    await store.deleteExpired(CREATED + now - HISTORY)
    if (hour % 24 === 0) sizes.push(Number((await store.rows(PAGES, []))[0]!['bytes']))
  }
  const kept = await finishedCalls(store, { since: 0, limit: 1e6 })
  await store.close()

  const inADay = 24 * CALLS_AN_HOUR
  const margin = 2 * HOURS * CALLS_AN_HOUR
  expect(ledger.calls.size).toBeLessThanOrEqual(inADay + margin)
  expect(contents(ledger).finished.length).toBeLessThanOrEqual(inADay + margin)
  expect(kept.length).toBeLessThanOrEqual(4 * inADay + margin)
  expect(kept.length).toBeGreaterThan(4 * inADay - margin)
  // From the sixth day on nothing grows any more.
  expect(sizes.at(-1)! / sizes[5]!).toBeLessThan(1.1)
})
