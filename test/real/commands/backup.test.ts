import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filledStore } from '../../kit/filled-store.ts'
import { callwatch, emptyFolder, MAIN, start } from '../../kit/commands/callwatch.ts'
import { configFor, countedCalls, countedWorld, withStore } from '../../kit/commands/counted-world.ts'
import { openReader } from '../../../src/store/open-store.ts'

const NOBODY = 'http://127.0.0.1:1/v3'

test('backup copies a store consistently while a daemon writes to it, and a daemon starts on the copy', async () => {
  const world = await countedWorld({ process: true })
  await world.finished(20)
  const file = join(emptyFolder(), 'copy.db')
  const { code, stdout, stderr } = await callwatch(['backup', file, '--config', world.config])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\S+copy\.db: a copy of \S+callwatch\.db, \d+ bytes, with production \(commit \d+\)\n$/)
  expect(readdirSync(dirname(file))).toEqual(['copy.db'])

  const counted = countedCalls(file).length
  expect(counted).toBeGreaterThanOrEqual(20)
  const total = withStore(file, (db) =>
    db.prepare("SELECT sum(value) AS n FROM counters WHERE series LIKE 'callwatch_calls_total|%'").get(),
  )
  expect(total).toEqual({ n: counted })

  // It continues from the moment of the copy, beside the first daemon.
  const second = start(['run', '--config', configFor(world.simulator.url, file)])
  await second.printed(/the target is up/)
  second.child.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0, stderr: '' })
  const reader = await openReader({ path: file })
  expect((await reader.target('production'))?.sync.seq).toBeGreaterThan(Number(/commit (\d+)/.exec(stdout)![1]))
  await reader.close()
  expect(countedCalls(file).length).toBeGreaterThanOrEqual(counted)
  await world.finished(counted + 5)
})

test('a new callwatch backs up and checks the store of an older one before it migrates it', async () => {
  const store = await filledStore()
  withStore(store, (db) => db.exec('PRAGMA user_version = 1'))
  const file = join(emptyFolder(), 'copy.db')
  const config = configFor(NOBODY, store)
  expect(await callwatch(['backup', file, '--config', config])).toMatchObject({ code: 0, stderr: '' })
  for (const path of [store, file])
    expect(withStore(path, (db) => db.prepare('PRAGMA user_version').get())).toEqual({ user_version: 1 })
  expect(await callwatch(['check', '--store', '--config', config])).toMatchObject({ code: 0 })
})

describe('backup fails with a sentence', () => {
  const backup = (store: string, file: string) => callwatch(['backup', file, '--config', configFor(NOBODY, store)])

  test('for an existing file, and does not change it', async () => {
    const file = join(emptyFolder(), 'copy.db')
    writeFileSync(file, 'something else')
    const { code, stdout, stderr } = await backup(await filledStore(), file)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`${file} exists already`)
    expect(readFileSync(file, 'utf8')).toBe('something else')
  })

  test('for a path that cannot be written', async () => {
    const store = await filledStore()
    const folder = emptyFolder()
    writeFileSync(join(folder, 'plain'), '')
    for (const file of [join(folder, 'nowhere/copy.db'), join(folder, 'plain/copy.db')]) {
      const { code, stdout, stderr } = await backup(store, file)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`the backup ${file} cannot be written: `)
      expect(stderr).not.toMatch(/^\s+at /m)
    }
    expect(readdirSync(folder)).toEqual(['plain'])
  })

  test('for a disk that has no room for it', async () => {
    const store = await filledStore()
    const file = join(emptyFolder(), 'copy.db')
    // A limit of 40 kilobytes for each file fails as a full disk does.
    const limited = `ulimit -f 80; exec "${process.execPath}" "${MAIN}" backup "${file}" --config "${configFor(NOBODY, store)}"`
    const { status, stderr } = spawnSync('sh', ['-c', limited], { env: { HOME: '/dev/null' }, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^the backup \S+copy\.db cannot be written: disk I\/O error\n$/),
    })
    expect(readdirSync(dirname(file))).toEqual([])
  })

  test('without a store, or with a store in memory', async () => {
    const folder = emptyFolder()
    const missing = await backup(join(folder, 'nowhere.db'), join(folder, 'copy.db'))
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain(`there is no store ${join(folder, 'nowhere.db')}`)
    const memory = await backup(':memory:', join(folder, 'copy.db'))
    expect(memory.code).toBe(2)
    expect(memory.stderr).toContain('the store is in memory')
    expect(existsSync(join(folder, 'copy.db'))).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })

  test('for a PostgreSQL store, and names its own tools', async () => {
    const env = {
      CALLWATCH_BASE_URL: NOBODY,
      CALLWATCH_API_KEY: 'k',
      CALLWATCH_STORE_URL: 'postgres://me:pw@db/callwatch',
    }
    const { code, stderr } = await callwatch(['backup', 'copy.db'], { env })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^the store is a PostgreSQL .*`pg_dump .*\n$/),
    })
  })
})
