import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { eventually } from '../../kit/eventually.ts'
import { exactDifferences, live, settle, systemWorld } from './world.ts'

test(
  'short locks of another program fail no poll; a long one is shown; SIGTERM ends the daemon meanwhile, and the next counts exactly',
  { timeout: 120_000 },
  async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const env = { CALLWATCH_STORE_PATH: path }
    const world = await systemWorld('--speed', '1000', '--calls-per-minute', '600', '--history', '250', '--seed', '28')
    const before = await world.startDaemon(env)
    const page = /page at (http:\S+?)"/.exec(before.program.output())![1]!
    const readyz = async () => (await fetch(`${page}readyz`)).status
    const writable = async () => (await before.scrape()).get('callwatch_store_writable')
    await eventually(async () => ((await readyz()) === 200 ? true : undefined), 20)
    const other = new DatabaseSync(path, { timeout: 10_000 })
    onTestFinished(() => other.close())
    for (let i = 0; i < 10; i++) {
      other.exec('BEGIN IMMEDIATE')
      await live(i === 9 ? 1 : 0.2)
      expect(await writable()).toBe(1)
      other.exec('ROLLBACK')
      await live(0.6)
    }
    const series = await before.scrape()
    const polls = (outcome: string) => series.get(`callwatch_polls_total{outcome="${outcome}"}`)
    expect(polls('failed')).toBe(0)
    expect(polls('complete')! + polls('incremental')!).toBeGreaterThan(5)
    expect(before.program.output()).not.toContain('nothing is counted')

    other.exec('BEGIN IMMEDIATE')
    await eventually(async () => ((await writable()) === 0 ? true : undefined), 20)
    expect(await readyz()).toBe(503)
    const begun = performance.now()
    expect(await before.program.end('SIGTERM')).toBe(0)
    expect((performance.now() - begun) / 1000).toBeLessThan(10)
    other.exec('ROLLBACK')
    const after = await world.startDaemon(env)
    await settle(world, after)
    const { expected, differences } = await exactDifferences(world, after)
    expect(differences).toEqual([])
    expect(expected.size).toBeGreaterThan(100)
    expect(await after.program.end('SIGTERM')).toBe(0)
  },
)
