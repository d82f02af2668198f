import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { backupStore } from '../../../src/store/sqlite/backup-store.ts'
import { openSqliteSource, openSqliteDestination } from '../../../src/store/sqlite/open-copy.ts'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { probeStore, openReader, openForCommand } from '../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { completePoll, seen } from '../../kit/ledger/seen.ts'
import { A, openIn } from '../../kit/store/place.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const BESIDE: Readonly<Record<string, (path: string) => unknown>> = {
  'a reader': (path) => openReader({ path }),
  'a backup': (path) => backupStore(path, join(temporaryFolder(), 'copy.db')),
  'a command': (path) => openForCommand({ path }),
  'the source of a copy': openSqliteSource,
}
const ALL: typeof BESIDE = {
  ...BESIDE,
  'a daemon': (path: string) => openSqliteStore({ path }),
  'the destination of a copy': openSqliteDestination,
}

const newPath = () => join(temporaryFolder(), 'other.db')

function made(sql: string): () => string {
  return () => {
    const path = newPath()
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    return path
  }
}

function text(): string {
  const path = newPath()
  writeFileSync(path, 'this is a text, and it is long enough to be more than a header of a database file '.repeat(20))
  return path
}

// "cwat" in ASCII.
const ours = 'PRAGMA application_id = 0x63616c77'

test.each([
  [
    "another program's database",
    made('CREATE TABLE t (a)'),
    / is no store of callwatch: another program's database, or one of an unreleased version; name another file/,
    ALL,
  ],
  [
    "a newer callwatch's",
    made(`CREATE TABLE t (a); ${ours}; PRAGMA user_version = 99`),
    / was written by a newer callwatch \(schema 99, this one knows \d+\); upgrade this one$/,
    ALL,
  ],
  ['a file that is no database', text, / is damaged or no SQLite database /, ALL],
  ['a file that no daemon has used yet', made(''), / contains no callwatch store/, BESIDE],
  ['a missing file', newPath, /^there is no store /, BESIDE],
  ['a store in memory', () => ':memory:', /^the store is in memory/, BESIDE],
])('%s is refused, and left as it is', async (_what, make, sentence, openers) => {
  for (const [opener, open] of Object.entries(openers)) {
    const path = make()
    const content = () => (existsSync(path) ? readFileSync(path, 'latin1') : undefined)
    const before = content()
    await expect((async () => open(path))(), opener).rejects.toThrow(
      expect.objectContaining({ name: 'StoreError', kind: 'refused', message: expect.stringMatching(sentence) }),
    )
    expect(content() === before, opener).toBe(true)
  }
})

/** A store with a page of zeros in the table of calls: its first one, or one further on. */
async function damaged(which: 'first' | 'later'): Promise<string> {
  const path = newPath()
  const store = openSqliteStore({ path })
  const { see } = await openIn(store, A)
  await see(completePoll(10, ...Array.from({ length: 200 }, (_, i) => seen(`call-${i}`, 'ongoing'))))
  await store.close()
  using db = new DatabaseSync(path)
  const pages = db.prepare("SELECT pageno FROM dbstat WHERE name = 'calls' ORDER BY path").all()
  const root = Number(pages[which === 'first' ? 0 : 2]!['pageno'])
  const size = Number(db.prepare('PRAGMA page_size').get()!['page_size'])
  writeFileSync(path, readFileSync(path).fill(0, (root - 1) * size, root * size))
  return path
}

test.each(['a daemon', 'a backup', 'the source of a copy'])('a damaged file is refused: by %s', async (opener) => {
  const path = await damaged('first')
  const open = ALL[opener]!
  expect(() => open(path)).toThrow(
    expect.objectContaining({ kind: 'refused', message: expect.stringMatching(/ is damaged \(.*\); restore it from/) }),
  )
})

test('a page further on is not read at the start, which takes no longer for a large file, but by the check of the whole', async () => {
  const path = await damaged('later')
  const store = await openSqliteDaemonStore({ path })
  const tables: string[] = []
  const sentence = / is damaged .*; restore it from a backup/
  await expect(store.check!((table) => tables.push(table))).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(sentence),
  })
  expect(tables.at(-1)).toBe('calls')
  await store.close()
  expect(await probeStore({ path })).toEqual({ works: false, message: expect.stringMatching(sentence) })
})

test('a store that is closed ends its check, however long that would take', async () => {
  const path = newPath()
  const store = await openSqliteDaemonStore({ path })
  using db = new DatabaseSync(path)
  db.exec('BEGIN')
  const insert = db.prepare('INSERT INTO pauses (key, until) VALUES (?, 1)')
  for (let i = 0; i < 200_000; i++) insert.run(`${i}`.padStart(100, 'x'))
  db.exec('COMMIT')
  let isOver = false
  const begun = new Promise<void>((resolve) => void store.check!((table) => table === 'pauses' && resolve()).finally(() => (isOver = true))) // oxfmt-ignore
  await begun
  await store.close()
  expect(isOver).toBe(false)
})

test('a file without damage passes the check of the whole, table by table, also while a daemon uses it', async () => {
  const path = newPath()
  const store = await openSqliteDaemonStore({ path })
  const places: string[] = []
  await store.check!((table, place) => places.push(`${table} ${place}`))
  expect(places).toContainEqual(expect.stringMatching(/^calls \d+ of \d+$/))
  expect(await probeStore({ path })).toEqual({ works: true, message: `${path} is not damaged` })
  await store.close()
})

test('a damaged file is opened by what reads parts of it, until one of them is damaged', async () => {
  const path = await damaged('first')
  const reader = await openReader({ path })
  await expect(reader.rows('SELECT name FROM callwatch.targets', [])).resolves.toHaveLength(1)
  await expect(reader.rows('SELECT * FROM callwatch.calls', [])).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/ is damaged .*; restore it from a backup/),
  })
  await reader.close()
})
