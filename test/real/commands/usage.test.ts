import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { wrapped } from '../../../src/commands/command.ts'
import { callwatch, configFile, start, type Ended } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'
import { openIn } from '../../kit/store/place.ts'

const COMMANDS = ['run', 'demo', 'check', 'audit', 'events', 'backup', 'simulate', 'test-notify', 'service']
const TARGET = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3', CALLWATCH_API_KEY: 'hunter2-hunter2' }
/** The address of another machine. */
const ELSEWHERE = { ...TARGET, CALLWATCH_HTTP_HOST: '192.0.2.1' }

/** The output for a user's mistake: sentences on stderr, nothing on stdout, and no stack trace. */
function expectSentence({ stdout, stderr }: Ended, ...parts: string[]): void {
  expect(stdout).toBe('')
  for (const part of parts) expect(stderr).toContain(part)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stderr).not.toMatch(/node:internal|\.ts:\d|Node\.js v/)
}

test('a sentence about a mistake is wrapped between words in a narrow terminal', async () => {
  const { stderr } = await callwatch(['check', '--config', 'missing.yaml'], { columns: 60 })
  expect(stderr).toMatch(/\n\S.*\n {2}\S/)
  expect(Math.max(...stderr.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60)
})

test('a command in a sentence stays whole in a narrow terminal', () => {
  const command = '`pg_dump --format=custom a|b --file=FILE`'
  expect(wrapped(`${'word '.repeat(8)}${command} copies it`, 60)).toBe(
    `${'word '.repeat(8).trim()}\n  ${command} copies it`,
  )
})

test('the help of the program lists every command', async () => {
  const { code, stdout, stderr } = await callwatch(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
})

test('--version prints the version of the package', async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  expect(await callwatch(['--version'])).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test.each([
  ['no command', [], 'Usage: callwatch'],
  ['an unknown command', ['wacth'], "unknown command 'wacth'"],
  ['an unknown option', ['run', '--confg', 'x'], "unknown option '--confg'"],
  ['an option without its value', ['run', '--config'], "'--config <file>' argument missing"],
  ['a backup without a file', ['backup'], "missing required argument 'file'"],
  ['a missing argument', ['service', 'token'], "missing required argument 'uid'"],
  ['an argument too many', ['check', 'callwatch.yaml'], 'too many arguments'],
  ['a port that is a word', ['simulate', '--port', 'http'], 'It must be a whole number, 0 or more.'],
  ['a port that is empty', ['simulate', '--port', ''], 'It must be a whole number, 0 or more.'],
  ['a port that does not exist', ['simulate', '--port', '70000'], 'It must be a port, 65535 at most.'],
  ['a speed of 0', ['demo', '--speed', '0'], 'It must be a number above 0.'],
  ['no target', ['simulate', '--targets', '0'], 'It must be a whole number from 1 to 1000.'],
  ['a burst of all calls', ['simulate', '--burst', '100'], 'It must be a number above 0 and below 100.'],
  ['a chaos above 1', ['simulate', '--chaos', '2'], 'It must be a number from 0 to 1.'],
  [
    'an invalid value of a switch',
    ['simulate', '--per-page', '0'],
    `'--per-page <value>' argument '0' is invalid. It must be "honoured", "ignored" or a whole number above 0.`,
  ],
  ['a switch without its value', ['simulate', '--order'], "'--order <value>' argument missing"],
  ['a seed that is a fraction', ['simulate', '--seed', '1.5'], 'It must be a whole number, 0 or more.'],
  [
    'an option of the command above',
    ['alerts', '--since', '1d', 'calls', 'X'],
    '--since before `calls`: `calls` has no',
  ],
  ['an option two above', ['events', '--limit', '3', 'webhooks', 'dead', 'x'], '--limit before `dead`: `dead` has no'],
  ['--json too early', ['events', '--json', 'webhooks'], '--json before `webhooks`: write it after `webhooks`'],
  ['two files', ['events', '--config', 'a', 'webhooks', '--config', 'b'], '--config is given twice: leave one out'],
])('%s is wrong usage: exit 2 with a sentence', async (_what, args, sentence) => {
  const ended = await callwatch(args)
  expect(ended.code).toBe(2)
  expectSentence(ended, sentence)
})

test.each([
  ['alerts', 'calls', 'X'],
  ['events', 'webhooks'],
  ['events', 'webhooks', 'dead', 'x'],
  ['silence', 'list'],
  ['silence', 'expire', '1'],
  ['store', 'copy', '--to', 'x'],
])('%s --config FILE %s reads that file', async (first, ...rest) => {
  const ended = await callwatch([first, '--config', 'nowhere.yaml', ...rest])
  expect(ended.code).toBe(1)
  expectSentence(ended, '--config: the file `nowhere.yaml` does not exist')
})

test.each([
  ['an unknown command', ['wacth'], {}, 2, "unknown command 'wacth'"],
  ['run without a target', ['run'], {}, 2, 'targets: no target to watch'],
  [
    'run without its port',
    ['run'],
    ELSEWHERE,
    1,
    'address not available 192.0.2.1:9464; set another http.host or http.port',
  ],
])('the process of %s ends by itself, with its exit code', async (_what, args, env, code, sentence) => {
  const ended = await start(args, { env }).ended
  expect(ended.code).toBe(code)
  expectSentence(ended, sentence)
})

describe('an invalid configuration', () => {
  const yaml = `
targets:
  - { name: a, app_id: x1, region: moon, api_key: k }
  - { name: a, app_id: x2, region: us, api_kye: k }
poll: { interval: 15 }
`
  test.each([['run'], ['check'], ['test-notify'], ['service', 'token', 'ann']])(
    'exits 2 for %s, with every problem at once by its path',
    async (...args) => {
      const file = configFile(yaml)
      const ended = await callwatch([...args, '--config', file])
      expect(ended.code).toBe(2)
      expectSentence(ended, 'problems in the configuration', 'targets[0].region: ', 'poll.interval: ', 'api_kye')
      const [headline, ...problems] = ended.stderr.trim().split('\n')
      expect(headline).toBe(`${problems.length} problems in the configuration (${file})`)
      for (const problem of problems) {
        expect(problem.startsWith(`${file}:`)).toBe(true)
        expect(problem.slice(file.length)).toMatch(/^:\d+:\d+: [a-z][\w.[\]]*: \S/)
      }
    },
  )

  test('exits 1 when its file does not exist yet, and 2 when there is none at all', async () => {
    const missing = await callwatch(['run', '--config', 'nowhere.yaml'])
    expect(missing.code).toBe(1)
    expectSentence(missing, 'nowhere.yaml')
    const nothing = await callwatch(['run'])
    expect(nothing.code).toBe(2)
    expectSentence(nothing, 'targets: no target to watch', 'CALLWATCH_APP_ID', '--config')
    expect(nothing.stderr).toMatch(/^1 problem in the configuration\n/)
  })
})

test('simulate exits 1 with a sentence where its address is in use', async () => {
  const { port } = await localServer(() => undefined)
  const ended = await callwatch(['simulate', '--port', String(port)])
  expect(ended.code).toBe(1)
  expectSentence(ended, `127.0.0.1:${port}`, 'choose another --port')
})

describe('run refuses a store', () => {
  const env = { ...TARGET, CALLWATCH_HTTP_HOST: '127.0.0.1', CALLWATCH_HTTP_PORT: '0' }

  test('that is not a database, and does not change the file', async () => {
    const file = configFile('this is no database, but it is long enough to be looked at as if it were one')
    const before = readFileSync(file)
    const ended = await callwatch(['run'], { env: { ...env, CALLWATCH_STORE_PATH: file } })
    expect(ended.code).toBe(2)
    expectSentence(ended, file, 'no SQLite database')
    expect(readFileSync(file)).toEqual(before)
  })

  test('whose target had another address, and says what to do', async () => {
    const { port } = await localServer(() => undefined)
    const { store, config } = storeInUse(['production'], `http: { host: 127.0.0.1, port: ${port} }`)
    await openIn(store, { name: 'production', fingerprint: 'of another address' })
    await store.close()
    const refused = await callwatch(['run', '--config', config])
    expect(refused.code).toBe(2)
    expectSentence(refused, 'target production had another address', '--reset-target production')
    const reset = await callwatch(['run', '--config', config, '--reset-target', 'production'])
    expectSentence(reset, `address already in use 127.0.0.1:${port}`)
  })
})

test('run --reset-target exits 2 for an unknown target, and names those that there are', async () => {
  const ended = await callwatch(['run', '--reset-target', 'prodution'], {
    env: { ...TARGET, CALLWATCH_STORE_PATH: ':memory:' },
  })
  expect(ended.code).toBe(2)
  expectSentence(ended, 'there is no target prodution; there is: 127.0.0.1:1')
})
