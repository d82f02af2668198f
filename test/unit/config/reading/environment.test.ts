import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../../src/config/load-config.ts'
import { folderWith } from '../folder-with.ts'
import { problemsWhenLoading } from '../problems-when-loading.ts'

const target = (name: string) => `targets: [{ name: ${name}, app_id: a1, region: us, api_key: k }]\n`
const byEnvironment = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'secret-key' }

describe('the environment alone', () => {
  test('three variables make a target', () => {
    expect(loadConfig({ env: byEnvironment, cwd: folderWith({}) }).targets).toEqual([
      {
        name: 'a1',
        appId: 'a1',
        baseUrl: 'https://a1.call-eu.cometchat.io/v3',
        chatBaseUrl: 'https://a1.api-eu.cometchat.io/v3',
        apiKey: 'secret-key',
        query: {},
      },
    ])
  })

  test('every other variable fills its key', () => {
    const env = {
      CALLWATCH_APP_ID: 'a1',
      CALLWATCH_BASE_URL: 'http://127.0.0.1:8080/v3/',
      CALLWATCH_API_KEY: 'k',
      CALLWATCH_POLL_INTERVAL: '1500ms',
      CALLWATCH_STORE_PATH: ':memory:',
      CALLWATCH_HTTP_HOST: '::1',
      CALLWATCH_HTTP_PORT: '0',
      CALLWATCH_LOG_LEVEL: 'debug',
      SLACK_WEBHOOK_URL: 'https://hooks.slack.example/x',
    }
    expect(loadConfig({ env, cwd: folderWith({}) })).toMatchObject({
      targets: [{ name: 'a1', baseUrl: 'http://127.0.0.1:8080/v3', apiKey: 'k', query: {} }],
      poll: { interval: 1.5 },
      store: { path: ':memory:' },
      http: { host: '::1', port: 0 },
      notify: { receivers: [{ name: 'slack', config: { webhookUrl: 'https://hooks.slack.example/x' } }] },
      events: { retention: 7 * 86_400, participants: false, webhooks: [] },
      log: { level: 'debug' },
    })
  })

  test('CALLWATCH_STORE_URL goes before CALLWATCH_STORE_PATH, which a container has anyway', () => {
    const database = { CALLWATCH_STORE_URL: 'postgresql://callwatch@db/callwatch', CALLWATCH_STORE_PATH: '/data/c.db' }
    const shared = { url: 'postgresql://callwatch@db/callwatch', lease: 10, history: 63 * 86_400 }
    expect(loadConfig({ env: { ...byEnvironment, ...database }, cwd: folderWith({}) }).store).toEqual(shared)
    const inFile = `${target('x')}store: { url: "${shared.url}" }`
    expect(load(inFile, { CALLWATCH_STORE_PATH: '/data/c.db' }).store).toEqual(shared)
  })

  test('an empty variable counts as not set', () => {
    const env = { ...byEnvironment, CALLWATCH_BASE_URL: '', CALLWATCH_HTTP_PORT: '', CALLWATCH_CONFIG: '' }
    const config = loadConfig({ env, cwd: folderWith({}) })
    expect(config.targets[0]?.baseUrl).toBe('https://a1.call-eu.cometchat.io/v3')
    expect(config.http.port).toBe(9464)
  })

  test('a mistake is reported by the name of its variable', () => {
    const env = {
      CALLWATCH_APP_ID: 'a1',
      CALLWATCH_REGION: 'europe',
      CALLWATCH_API_KEY: 'two\nlines',
      CALLWATCH_HTTP_PORT: '-1',
      SLACK_WEBHOOK_URL: 'hooks.slack.example/secret',
    }
    expect(problemsOf(env).split('\n')).toEqual([
      'CALLWATCH_REGION: found `europe`; expected one of `us`, `eu`, `in`; for another region or a dedicated host, set `base_url` instead',
      'CALLWATCH_API_KEY: found a value (hidden, it may be secret); expected the key, of printable ASCII characters',
      'CALLWATCH_HTTP_PORT: found `-1`; expected a whole number from 0 to 65535',
      'SLACK_WEBHOOK_URL: found a value (hidden, it may be secret); expected a valid https URL (plain http is accepted on loopback only)',
    ])
  })

  test('a variable that is missing beside others of a target is named', () => {
    expect(problemsOf({ CALLWATCH_APP_ID: 'a1', CALLWATCH_API_KEY: 'k' })).toMatch(
      /^CALLWATCH_REGION: missing; [^\n]*$/,
    )
    expect(problemsOf({ CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'us' })).toMatch(
      /^CALLWATCH_API_KEY: missing; [^\n]*$/,
    )
    expect(problemsOf({ CALLWATCH_API_KEY: 'k' })).toMatch(/^CALLWATCH_APP_ID: missing; [^\n]*$/)
  })

  test('region and base address together are refused', () => {
    const env = { ...byEnvironment, CALLWATCH_BASE_URL: 'https://calls.example/v3' }
    expect(problemsOf(env)).toMatch(/^CALLWATCH_REGION: .*`base_url`[^\n]*$/)
  })
})

describe('file and environment together', () => {
  test('a target of the environment beside a file without targets', () => {
    for (const none of ['', 'targets:\n', 'targets: []\n']) {
      const config = load(`${none}poll: { interval: 5s }\n`, byEnvironment)
      expect(config.targets[0]?.name).toBe('a1')
      expect(config.poll.interval).toBe(5)
    }
  })

  test('the file goes before the environment, key by key', () => {
    const env = { CALLWATCH_HTTP_PORT: '1', CALLWATCH_HTTP_HOST: 'localhost', CALLWATCH_API_KEY: 'not-this-one' }
    const config = load(`${target('x')}http: { port: 2 }\n`, env)
    expect(config.http).toEqual({ host: 'localhost', port: 2 })
    expect(config.targets[0]?.apiKey).toBe('k')
  })

  test('a single target takes from the environment what it leaves out', () => {
    const config = load('targets: [{ app_id: a2 }]', { CALLWATCH_REGION: 'in', CALLWATCH_API_KEY: 'k2' })
    expect(config.targets).toMatchObject([{ baseUrl: 'https://a2.call-in.cometchat.io/v3', apiKey: 'k2' }])
  })

  test('a target with an address takes no part of another one from the environment', () => {
    const whole = load('targets: [{ base_url: https://calls.example/v3, api_key: k }]', { CALLWATCH_REGION: 'in' })
    expect(whole.targets[0]?.baseUrl).toBe('https://calls.example/v3')
    const parts = load(target('x'), { CALLWATCH_BASE_URL: 'https://calls.example/v3' })
    expect(parts.targets[0]?.baseUrl).toBe('https://a1.call-us.cometchat.io/v3')
  })

  test('of several targets none takes a key from the environment: it is not known whose it is', () => {
    const cwd = folderWith({ 'callwatch.yaml': 'targets: [{ app_id: a1, region: us }, { app_id: a2, region: us }]' })
    const lines = problemsWhenLoading({ env: { CALLWATCH_API_KEY: 'k' }, cwd }).split('\n')
    expect(lines.map((line) => line.split(': ', 2).join(' '))).toEqual([
      'callwatch.yaml:1:11 targets[0].api_key',
      'callwatch.yaml:1:39 targets[1].api_key',
    ])
  })

  test('CALLWATCH_APP_ID is no second target where the file itself refers to it', () => {
    const env = { ...byEnvironment, CALLWATCH_APP_ID: 'a9' }
    expect(load('targets: [{ app_id: "${CALLWATCH_APP_ID}" }]', env).targets[0]?.name).toBe('a9')
  })

  test('SLACK_WEBHOOK_URL completes a section of the file', () => {
    const yaml = `${target('x')}notify: { slack: { api_url: https://slack.example } }\n`
    expect(load(yaml, { SLACK_WEBHOOK_URL: 'https://hooks.slack.example/x' }).notify.receivers[0]?.config).toEqual({
      webhookUrl: 'https://hooks.slack.example/x',
      apiUrl: 'https://slack.example',
    })
  })

  test('a variable does not hide that its section is no map', () => {
    const cwd = folderWith({ 'callwatch.yaml': `${target('x')}http: 8080\n` })
    expect(problemsWhenLoading({ env: { CALLWATCH_HTTP_PORT: '1' }, cwd })).toBe(
      'callwatch.yaml:2:1: http: found a number; expected a map',
    )
  })
})

function load(yaml: string, env: Record<string, string> = {}) {
  return loadConfig({ env, cwd: folderWith({ 'callwatch.yaml': yaml }) })
}

function problemsOf(env: Record<string, string>) {
  return problemsWhenLoading({ env, cwd: folderWith({}) })
}
