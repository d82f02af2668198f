import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCursor, writeCursor } from '../../../src/events/cursor.ts'
import { newEvents } from '../../../src/events/new-events.ts'
import { CursorExpired, readEvents, readLatest } from '../../../src/events/read-events.ts'
import { backupStore } from '../../../src/store/sqlite/backup-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { completePoll, seen } from '../../kit/ledger/seen.ts'
import { openIn, type OpenTarget } from '../../kit/store/place.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { delivering } from './webhooks/delivering.ts'

/** Commits a poll that finds a call, with its events, as the daemon does. */
async function find({ see, ledger, deltaOf }: OpenTarget, call: string): Promise<void> {
  const poll = completePoll(ledger.sync.seq + 1, seen(call, 'ongoing', { initiatedAt: 0 }))
  const changes = { ledger: deltaOf(poll), notifications: [], backfilled: false }
  await see(poll, { events: newEvents(changes, Date.now() / 1000) })
}

test('a store that is restored from a backup: a reader gets an error, a webhook goes on, and what is found again has the id that it had', async () => {
  const folder = temporaryFolder()
  const [path, backup] = [join(folder, 'callwatch.db'), join(folder, 'backup.db')]
  const before = openSqliteStore({ path })
  const idsIn = async (store: typeof before, cursor = '0') =>
    (await readEvents(store, { cursor: readCursor(cursor)!, limit: 100 })).events.map(({ event }) => event.id)
  const target = await openIn(before)
  const { run, clock, ids, from } = delivering({ from: 'start' })
  from(Date.now() / 1000)
  await find(target, 'x')
  const first = run(undefined, before)
  await clock.advance(3)
  backupStore(path, backup)
  await find(target, 'y')
  await clock.advance(3)
  first.stop()
  await clock.advance(5)
  const all = await idsIn(before)
  expect(ids()).toEqual(all)
  const { next } = await readLatest(before, 0)
  await before.close()

  const restored = openSqliteStore({ path: backup })
  const reading = () => readEvents(restored, { cursor: next, limit: 100 })
  const kept = all.slice(0, 2)
  const error = await reading().catch((thrown: unknown) => thrown)
  if (!(error instanceof CursorExpired)) throw new Error('the reader got no error')
  expect(await idsIn(restored, error.oldest)).toEqual(kept)
  // The service still shows the call, so it is found again.
  await find(await openIn(restored), 'y')
  await expect(reading()).rejects.toThrow(CursorExpired)
  const again = await idsIn(restored)
  expect(again.slice(0, 2)).toEqual(kept)
  expect(again).toEqual(all)
  const second = run(undefined, restored)
  await clock.advance(3)
  second.stop()
  await clock.advance(5)
  expect(ids()).toEqual([...all, ...again.slice(2)])
  expect(writeCursor((await readLatest(restored, 0)).next)).toBe((await restored.webhooks())[0]!.progress.cursor)
  await restored.close()
})
