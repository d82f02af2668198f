import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { lastValueFrom, NEVER } from 'rxjs'
import { expect, test } from 'vitest'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { configTo } from '../../kit/daemon/daemon-in-process.ts'

/** A store with a page of zeros among those of a table that no start reads. */
async function damagedStore(): Promise<string> {
  const path = join(temporaryFolder(), 'callwatch.db')
  await openSqliteStore({ path }).close()
  using db = new DatabaseSync(path)
  const names = JSON.stringify(Array.from({ length: 5000 }, (_, i) => `key ${i}`))
  db.prepare('INSERT INTO pauses SELECT value, 1 FROM json_each(?)').run(names)
  const [page] = db.prepare("SELECT pageno FROM dbstat WHERE name = 'pauses' ORDER BY path LIMIT 1 OFFSET 5").all()
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const size = Number(db.prepare('PRAGMA page_size').get()!['page_size'])
  const end = Number(page!['pageno']) * size
  writeFileSync(path, readFileSync(path).fill(0, end - size, end))
  return path
}

test('damage that is found a minute after the start ends the daemon: it says so, and closes all that it has', async () => {
  const path = await damagedStore()
  const [clock, log] = [virtualClock(), pino({ level: 'silent' })]
  const config = { ...configTo('http://127.0.0.1:1/v3'), store: { path, history: 86_400 } }
  const { url, events$ } = await startDaemon({ config, clock, random: Math.random, log, draining$: NEVER })
  const ended = lastValueFrom(events$).catch((error: unknown) => error)
  expect((await fetch(url)).status).toBe(200)
  await clock.advance(60)
  expect(await ended).toMatchObject({ kind: 'refused', message: expect.stringContaining('is damaged') })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})
