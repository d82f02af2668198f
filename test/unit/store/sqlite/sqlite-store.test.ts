import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backupStore } from '../../../../src/store/sqlite/backup-store.ts'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import type { Store } from '../../../../src/store/store.ts'
import { callsById, completePoll, CREATED, seen } from '../../../kit/ledger/seen.ts'
import { A, B, filled, many, openIn, summariesOf } from '../../../kit/store/place.ts'
import { storeContract } from '../../../contract/store/store-contract.ts'
import { temporaryFolder } from '../../../kit/store/temporary-folder.ts'
import { finishedCalls } from '../../../kit/store/finished-calls.ts'
import { openReader } from '../../../../src/store/open-store.ts'
import { placesInFiles } from '../../../kit/store/sqlite/places-in-files.ts'

function open(path: string, receivers?: readonly string[]): Store {
  const store = openSqliteStore({ path, receivers })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

const newPath = () => join(temporaryFolder(), 'callwatch.db')

storeContract(placesInFiles(openSqliteStore))

test('expired calls are deleted, 2000 in a transaction, of one target first and then of another, until there are no more', async () => {
  const store = open(':memory:')
  await filled(store, A, many(2503), ['call 7'])
  await filled(store, B, many(2501))
  const left = async () => {
    const targets = (await finishedCalls(store, { since: CREATED, limit: 1e6 })).map(({ target }) => target)
    return ['a', 'b'].map((name) => targets.filter((target) => target === name).length)
  }
  expect(await left()).toEqual([2503, 2501])
  for (const _time of [1, 2]) {
    await store.deleteExpired(CREATED + 1000)
    expect(await left()).toEqual([1, 0])
  }
  const history = summariesOf(await finishedCalls(store, { since: CREATED, limit: 10 }))
  expect(history).toEqual([expect.stringContaining('a call 7 ')])
})

describe('a store file is refused', () => {
  test('that another daemon holds, naming it; it is free once that one is gone', async () => {
    const path = newPath()
    const store = open(path)
    expect(() => open(path)).toThrow(new RegExp(`in use by another callwatch .*process ${process.pid}`))
    await store.close()
    open(path)
  })

  test.each<[string, (path: string) => string]>([
    [
      'through a link to the file',
      (path) => {
        const link = newPath()
        symlinkSync(path, link)
        return link
      },
    ],
    [
      'through a link to its folder',
      (path) => {
        const link = join(temporaryFolder(), 'link')
        symlinkSync(dirname(path), link)
        return join(link, basename(path))
      },
    ],
    [
      'whose lock file was removed',
      (path) => {
        rmSync(`${path}.lock`)
        return path
      },
    ],
    [
      'through a link, after its lock file was removed',
      (path) => {
        rmSync(`${path}.lock`)
        const link = newPath()
        symlinkSync(path, link)
        return link
      },
    ],
  ])('that another daemon holds, %s, however often it is tried', async (_how, other) => {
    const path = newPath()
    const store = open(path)
    await openIn(store)
    const again = other(path)
    for (let i = 0; i < 3; i++) expect(() => open(again)).toThrow(/in use by another callwatch/)
    await store.close()
    const { see } = await openIn(open(again))
    await see(completePoll(10, seen('c1', 'ongoing')))
    expect(() => open(path)).toThrow(/in use by another callwatch/)
  })

  test('that two daemons make through the same link to nowhere: only one of them has it', () => {
    const link = newPath()
    symlinkSync(newPath(), link)
    open(link)
    expect(() => open(link)).toThrow(/in use by another callwatch/)
  })

  test('that is a folder, with what to name instead', () => {
    const folder = temporaryFolder()
    expect(() => open(folder)).toThrow(`${folder} is a folder; store.path names a file, such as ${folder}/callwatch.db`)
  })
})

test('nothing is written to a store whose log of writes was deleted: it would be gone after a restart', async () => {
  const path = newPath()
  const { see } = await openIn(open(path))
  await see(completePoll(10, seen('c1', 'ongoing')))
  rmSync(`${path}-wal`)
  await expect(see(completePoll(11, seen('c2', 'ongoing')))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/-wal is not the file that callwatch has opened/),
  })
})

test.each<[string, (path: string) => void]>([
  ['deleted', (path) => renameSync(path, `${path}.away`)],
  [
    'replaced by a backup',
    (path) => {
      backupStore(path, `${path}.backup`)
      renameSync(path, `${path}.away`)
      renameSync(`${path}.backup`, path)
    },
  ],
  [
    'replaced by a link',
    (path) => {
      renameSync(path, `${path}.away`)
      writeFileSync(`${path}.other`, '')
      symlinkSync(`${path}.other`, path)
    },
  ],
])('nothing is written to a store whose file was %s, until it is back', async (_how, change) => {
  const path = newPath()
  const store = open(path)
  const { see, ledger } = await openIn(store)
  await see(completePoll(10, seen('c1', 'ongoing')))
  change(path)
  const writes = [
    () => see(completePoll(11, seen('c2', 'ongoing'))),
    () => store.writeNotified({ rows: [{ id: '1', receiver: 'slack', accepted: true, data: '{}' }] }),
    () => store.addSilence({ match: {}, since: 1, until: 1e10, reason: '' }),
    () => store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '0' } }),
  ]
  for (const write of writes) {
    await expect(write()).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        `${path} is not the file that callwatch has opened: it was deleted or replaced; move that one back, or ` +
        'restart callwatch to use what is there now',
    })
  }
  expect([...callsById(ledger.calls).keys()]).toEqual(['c1'])
  renameSync(`${path}.away`, path)
  await see(completePoll(12, seen('c3', 'ongoing')))
  expect([...callsById(ledger.calls).keys()]).toEqual(['c1', 'c3'])
})

test('a reader does not keep a daemon from starting, and reads on', async () => {
  const path = newPath()
  await openIn(open(path)).then(({ store }) => store.close())
  const reader = await openReader({ path })
  await open(path).resetTarget('a', [])
  expect(await reader.target('a')).toBeUndefined()
  await reader.close()
})

test('a backup is what the daemon has committed, in one file that is its own', async () => {
  const path = newPath()
  const { ledger, see } = await openIn(open(path))
  await see(completePoll(10, seen('c1', 'ongoing')))
  const file = join(temporaryFolder(), 'copy.db')
  const { bytes, targets } = backupStore(path, file)
  expect(targets).toEqual([{ name: 'a', seq: ledger.sync.seq }])
  expect(readFileSync(file).length).toBe(bytes)
  await see(completePoll(11, seen('c1', 'ongoing'), seen('c2', 'ongoing')))
  const reader = await openReader({ path: file })
  expect([...callsById(await reader.calls('a')).keys()]).toEqual(['c1'])
  await reader.close()
})

test('the files of a store are readable by their owner alone, and so is a backup', async () => {
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  const folder = temporaryFolder()
  const path = join(folder, 'callwatch.db')
  await filled(open(path), A, { a1: 10 })
  backupStore(path, join(folder, 'backup.db'))
  const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)])
  expect(Object.fromEntries(modes)).toEqual({
    'backup.db': '600',
    'callwatch.db': '600',
    'callwatch.db-shm': '600',
    'callwatch.db-wal': '600',
    'callwatch.db.lock': '600',
    ...(existsSync(`${path}.lock-journal`) && { 'callwatch.db.lock-journal': '600' }),
  })
})

test('the size of a store includes the log of writes next to its file, also behind a link', async () => {
  const [folder, linked] = [temporaryFolder(), temporaryFolder()]
  const path = join(folder, 'callwatch.db')
  const link = join(linked, 'callwatch.db')
  const first = openSqliteStore({ path })
  await first.close()
  symlinkSync(path, link)
  const store = openSqliteStore({ path: link })
  onTestFinished(() => store.close())
  await store.openTarget(A, CREATED, 3600)
  const log = statSync(`${path}-wal`).size
  expect(log).toBeGreaterThan(0)
  expect((await store.size()) - statSync(path).size).toBe(log)
})
