import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { completePoll, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const LOCKED = { kind: 'unavailable', message: expect.stringMatching(/cannot be used: database is locked/) }

/** A store, and another program that writes the same file. */
async function shared() {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = await openSqliteDaemonStore({ path })
  onTestFinished(() => store.close().catch(() => undefined))
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  return { path, other, ...(await openIn(store)) }
}

describe('a commit to a file that another program has locked', () => {
  test('waits until the lock is released, and holds up nothing but the thread of the store', async () => {
    const { other, see } = await shared()
    other.exec('BEGIN IMMEDIATE')
    let isDone = false
    const commit = see(completePoll(10, seen('c1', 'ongoing'))).then(() => (isDone = true))
    // Other work continues meanwhile.
    await Promise.race([commit, wait(300)])
    expect(isDone).toBe(false)
    other.exec('ROLLBACK')
    expect(await commit).toBe(true)
  })

  test('fails after five seconds, and further ones at once, until one has succeeded', async () => {
    const { other, see } = await shared()
    other.exec('BEGIN IMMEDIATE')
    const begun = performance.now()
    await expect(see(completePoll(10, seen('c1', 'ongoing')))).rejects.toMatchObject(LOCKED)
    const waited = performance.now() - begun
    expect(waited).toBeGreaterThan(4900)
    for (let i = 0; i < 5; i++) await expect(see(completePoll(10, seen('c1', 'ongoing')))).rejects.toMatchObject(LOCKED)
    expect(performance.now() - begun - waited).toBeLessThan(4900)
    other.exec('ROLLBACK')
    await see(completePoll(10, seen('c1', 'ongoing')))
    other.exec('BEGIN IMMEDIATE')
    const next = see(completePoll(20, seen('c2', 'ongoing')))
    await Promise.race([next, wait(100)])
    other.exec('ROLLBACK')
    await next
  })
})

test('a daemon starts though another program has locked its file for a moment', async () => {
  const { path, other, store } = await shared()
  await store.close()
  other.exec('BEGIN IMMEDIATE')
  let isOpen = false
  const opening = openSqliteDaemonStore({ path }).then(async (opened) => {
    isOpen = true
    await opened.close()
  })
  await Promise.race([opening, wait(300)])
  expect(isOpen).toBe(false)
  other.exec('ROLLBACK')
  await opening
})
