import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import { completePoll, CREATED } from '../../../kit/ledger/seen.ts'
import { A, openIn } from '../../../kit/store/place.ts'
import { temporaryFolder } from '../../../kit/store/temporary-folder.ts'

const UID = 'a-uid-of-nobody'

/** How often it is in the file of a store, and in those beside it. */
function found(path: string): number {
  return ['', '-wal', '-shm'].reduce((sum, end) => {
    const content = existsSync(path + end) ? readFileSync(path + end, 'latin1') : ''
    return sum + content.split(UID).length - 1
  }, 0)
}

/** Commits with lists of very different length: some take pages of their own. */
async function append(path: string, first: number, last: number) {
  const store = openSqliteStore({ path })
  const { see, ledger } = await openIn(store, A)
  for (let i = first; i < last; i++) {
    const list = JSON.stringify(Array.from({ length: 1 + ((i * 37) % 400) }, () => ({ uid: UID })))
    const events = {
      id: `${i}`,
      at: CREATED + i,
      texts: [JSON.stringify('x'.repeat((i * 53) % 900))],
      participants: [list],
    }
    await see(completePoll(ledger.sync.seq + 1), { events })
  }
  return store
}

test('erased participants are not in the file any more, nor those that were deleted with their events before', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  await (await append(path, 0, 200)).close()
  // Another process: it deletes before it has added any.
  const store = openSqliteStore({ path })
  await store.deleteEvents(CREATED + 100)
  await store.close()
  const last = await append(path, 200, 300)
  expect(found(path)).toBeGreaterThan(1000)
  await last.eraseParticipants()
  expect(found(path)).toBe(0)
  expect(await last.events(1, 1000)).toHaveLength(201)
  await last.close()
})

test('erased participants leave the file once nobody reads what was there before', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = await append(path, 0, 20)
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM events')
  await store.eraseParticipants()
  expect(await store.latestEvents(20)).not.toContainEqual(expect.objectContaining({ participants: expect.anything() }))
  expect(found(path)).toBeGreaterThan(0)
  reader.close()
  await store.eraseParticipants()
  expect(found(path)).toBe(0)
  await store.close()
})
