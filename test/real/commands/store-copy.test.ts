import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { filledStore } from '../../kit/filled-store.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { callwatch, configFile, emptyFolder } from '../../kit/commands/callwatch.ts'
import { countedWorld } from '../../kit/commands/counted-world.ts'
import { daemonInProcess } from '../../kit/daemon/daemon-in-process.ts'

describe('store copy exits 2 with a sentence', () => {
  test.each([
    ['without a store', [], 'nothing to copy; expected --from or --to'],
    ['when a variable is not set', ['--from', '${NOWHERE}'], '--from: the environment variable `NOWHERE` is not set'],
    [
      'for an invalid address',
      ['--to', 'postgres://me:hunter2@db'],
      '--to: found a URL (hidden, it may have a password)',
    ],
    ['for a store that does not exist', ['--from', 'nowhere.db', '--to', 'x.db'], 'there is no store nowhere.db'],
  ])('%s', async (_what, args, sentence) => {
    const env = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3', CALLWATCH_API_KEY: 'k', CALLWATCH_STORE_PATH: 'none.db' }
    const { code, stdout, stderr } = await callwatch(['store', 'copy', ...args], { env })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/hunter2|^\s+at /m)
  })
})

test('store copy prints what it copied and compared, and what to do next', async () => {
  const path = await filledStore()
  const to = join(emptyFolder(), 'copy.db')
  const { code, stdout, stderr } = await callwatch(['store', 'copy', '--from', path, '--to', '${TO}'], {
    env: { TO: to },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^copied \S+callwatch\.db to \S+copy\.db: a \(commit 3\), Ä .* \(commit 2\), /),
    'read back and compared row by row, without a difference: targets: 4, calls: 4936, counters: 12, deleted call totals: 24, gaps: 4, alerts: 3, ' +
      'usage: 8, evaluations: 8, events: 4, webhooks: 1, undelivered: 2, notified: 2, receivers: 2, alert episodes: 4, ' +
      'silences: 2, pauses: 1',
    `from now on use only one of them: let every callwatch use ${to}`,
    '',
  ])
})

inPostgres('store copy to PostgreSQL', ({ newDatabase }) => {
  test('lets the daemon continue its counts there, and every command use the new store', async () => {
    const world = await countedWorld()
    await world.finished(20)
    const env = { DATABASE: await newDatabase() }
    const held = await callwatch(['store', 'copy', '--config', world.config, '--to', '${DATABASE}'], { env })
    expect(held).toMatchObject({ code: 2, stderr: expect.stringContaining('is in use by a callwatch') })
    await world.stop()
    const copied = await callwatch(['store', 'copy', '--config', world.config, '--to', '${DATABASE}'], { env })
    expect(copied).toMatchObject({ code: 0, stderr: '' })

    const inFile = readFileSync(world.config, 'utf8')
    const config = configFile(inFile.replace(/^store: .*$/m, "store: { url: '${DATABASE}' }"))
    const daemon = await daemonInProcess(world.simulator.url, {}, loadConfig({ file: config, env, cwd: '/' }))
    await daemon.recovered()
    const busy = await callwatch(['store', 'copy', '--config', config, '--to', 'back.db'], { env })
    expect(busy).toMatchObject({ code: 2, stderr: expect.stringMatching(/is in use by .*; stop every daemon/) })

    const audit = await callwatch(['audit', '--config', config], { env })
    expect({ code: audit.code, stderr: audit.stderr, stdout: audit.stdout }).toMatchObject({ code: 0, stderr: '' })
    const backtest = await callwatch(['backtest', '--config', config], { env })
    expect(backtest).toMatchObject({
      stderr: '',
      code: 0,
      stdout: expect.stringMatching(/^production: [1-9]\d* evaluations, /),
    })
    const silenced = await callwatch(['silence', 'add', '--all', '--for', '1h', '--config', config], { env })
    expect(silenced).toMatchObject({ code: 0, stdout: expect.stringMatching(/^silence 1: every alert/) })
    const listed = await callwatch(['silence', 'list', '--config', config], { env })
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1: every alert/) })
    const ended = await callwatch(['silence', 'expire', '1', '--config', config], { env })
    expect(ended).toMatchObject({ code: 0, stdout: 'silence 1 expired\n' })
    await daemon.stop()

    const back = await callwatch(['store', 'copy', '--config', config, '--to', 'back.db'], { env })
    expect(back).toMatchObject({ code: 0, stderr: '' })
  })
})
