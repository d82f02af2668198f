import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { eventually } from '../../kit/eventually.ts'
import { runningTime } from '../../kit/running-time.ts'
import { exactDifferences, live, polls, settle, systemWorld } from './world.ts'

/** Half of what a slow test has. */
const SECONDS = 150

test('short locks of another program fail no poll; a long one is shown; SIGTERM ends the daemon meanwhile, and the next counts exactly', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const env = { CALLWATCH_STORE_PATH: path }
  const world = await systemWorld('--speed', '1000', '--calls-per-minute', '600', '--history', '250', '--seed', '28')
  const before = await world.startDaemon(env)
  const page = /page at (http:\S+?)"/.exec(before.program.output())![1]!
  const readyz = async () => (await fetch(`${page}readyz`)).status
  const writable = async () => (await before.scrape()).get('callwatch_store_writable')
  const shown = async (is: number) => ((await readyz()) === is ? true : undefined)
  await eventually(() => shown(200), SECONDS)
  const other = new DatabaseSync(path, { timeout: 10_000 })
  onTestFinished(() => other.close())
  for (let i = 0; i < 10; i++) {
    other.exec('BEGIN IMMEDIATE')
    await live(i === 9 ? 1 : 0.2)
    expect(await writable()).toBe(1)
    other.exec('ROLLBACK')
    await live(0.6)
  }
  const counted = async () => (await polls(before, 'complete')) + (await polls(before, 'incremental'))
  await eventually(async () => ((await counted()) > 5 ? true : undefined), SECONDS)
  expect(await polls(before, 'failed')).toBe(0)
  expect(before.program.output()).not.toContain('nothing is counted')

  other.exec('BEGIN IMMEDIATE')
  await eventually(async () => ((await writable()) === 0 ? true : undefined), SECONDS)
  await eventually(() => shown(503), SECONDS)
  const taken = runningTime(before.program.child)
  expect(await before.program.end('SIGTERM')).toBe(0)
  expect(taken()).toBeLessThan(10)
  other.exec('ROLLBACK')
  const after = await world.startDaemon(env)
  await settle(world, after)
  const { expected, differences } = await exactDifferences(world, after)
  expect(differences).toEqual([])
  expect(expected.size).toBeGreaterThan(100)
  expect(await after.program.end('SIGTERM')).toBe(0)
})
