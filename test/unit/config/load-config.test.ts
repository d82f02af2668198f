import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'

const target = (name: string) => `targets: [{ name: ${name}, app_id: a1, region: us, api_key: k }]\n`

describe('what a file may say', () => {
  test('a target by its whole URL, named by app_id or by the host', () => {
    const yaml = `
      targets:
        - { base_url: https://calls.example/v3/, chat_base_url: https://chat.example/v3/, app_id: a1, api_key: k }
        - { base_url: "http://[::1]:81/v3", api_key: k }
        - { base_url: http://localhost/v3, name: here, api_key: k }`
    expect(load(yaml).targets).toEqual([
      {
        name: 'a1',
        appId: 'a1',
        baseUrl: 'https://calls.example/v3',
        chatBaseUrl: 'https://chat.example/v3',
        apiKey: 'k',
        query: {},
      },
      { name: '[::1]:81', baseUrl: 'http://[::1]:81/v3', apiKey: 'k', query: {} },
      { name: 'here', baseUrl: 'http://localhost/v3', apiKey: 'k', query: {} },
    ])
  })

  test('query values become texts', () => {
    const yaml = 'targets: [{ app_id: a1, region: us, api_key: k, query: { hasRecording: true, n: 2, mode: call } }]'
    expect(load(yaml).targets[0]?.query).toEqual({ hasRecording: 'true', n: '2', mode: 'call' })
  })

  test('spellings of a status are added to those that hold anyway, in lower case', () => {
    const yaml = `${target('x')}poll: { status_map: { Declined: rejected, missed: canceled } }\n`
    expect(load(yaml).poll.statusMap).toEqual({
      cancelled: 'canceled',
      missed: 'canceled',
      busy: 'rejected',
      declined: 'rejected',
    })
  })

  test.each([
    ['{}', 100 * 32 * 1024],
    ['{ page_size: 1000 }', 1000 * 32 * 1024],
    ['{ page_size: 5 }', 1024 * 1024],
  ])('the longest answer with `poll: %s` is of %i bytes', (poll, bytes) => {
    expect(load(`${target('t')}poll: ${poll}`).poll.maxAnswerBytes).toBe(bytes)
  })

  test('`alerts: []` means none, `alerts:` without a value the default rules', () => {
    expect(load(`${target('x')}alerts: []\n`).alerts).toEqual([])
    expect(load(`${target('x')}alerts:\n`).alerts).toHaveLength(8)
  })

  test('a key without a value counts as left out', () => {
    const yaml = 'targets: [{ name:, app_id: a1, region: us, api_key: k, on_behalf_of: }]\nnotify: { slack: }\nhttp:\n'
    const rule =
      '{ name: A, signal: calls_finished, below: 1, above:, match: { type:, mode: call }, by:, only_if:, description: }'
    const config = load(`${yaml}alerts: [${rule}]\n`)
    expect(config.alerts).toStrictEqual([
      {
        name: 'A',
        signal: { name: 'calls_finished', window: 900 },
        severity: 'warning',
        breach: 'below',
        threshold: 1,
        clear: 1,
        match: { mode: 'call' },
        by: [],
        for: 0,
        keepFiringFor: 0,
        repeat: 14_400,
      },
    ])
    expect(config.targets[0]).toMatchObject({ name: 'a1' })
    expect(config.notify).toStrictEqual({
      groupBy: ['alert', 'severity'],
      groupInterval: 300,
      receivers: [],
      reports: [],
      routes: [],
      inhibit: [],
      mutes: [],
    })
    expect(config.http.port).toBe(9464)
  })

  test('variables stand in any text, whole or in part, with or without quotes', () => {
    const yaml = `
      targets: [{ app_id: \${APP}, region: "\${R}", api_key: pre-\${KEY}-\${KEY} }]
      http: { port: \${PORT} }
      log: { level: \${LEVEL} }  # \${COMMENTS} do not count`
    const config = load(yaml, { APP: 'a1', R: 'us', KEY: 'k#: {}', PORT: '81', LEVEL: 'warn' })
    expect(config.targets[0]).toMatchObject({ name: 'a1', apiKey: 'pre-k#: {}-k#: {}' })
    expect(config.http.port).toBe(81)
    expect(config.log.level).toBe('warn')
  })

  test('`$${` is a plain `${`, and what a variable holds is not replaced again', () => {
    const yaml = 'targets: [{ app_id: a1, region: us, api_key: "$${KEY}", on_behalf_of: "${UID}" }]'
    expect(load(yaml, { UID: '${KEY}' }).targets[0]).toMatchObject({ apiKey: '${KEY}', onBehalfOf: '${KEY}' })
  })
})

test.each([
  ['{}', {}, '127.0.0.1'],
  ['{ auth: { username: ops, password: secret } }', {}, '::'],
  ['{ host: 0.0.0.0 }', {}, '0.0.0.0'],
  ['{ host: 127.0.0.1, auth: { username: ops, password: secret } }', {}, '127.0.0.1'],
  ['{}', { CALLWATCH_HTTP_HOST: '0.0.0.0' }, '0.0.0.0'],
  ['{ host: 127.0.0.1 }', { CALLWATCH_HTTP_HOST: '0.0.0.0' }, '127.0.0.1'],
])('with http: %s and %j in the environment callwatch listens on %s', (http, env, host) => {
  expect(load(`${target('x')}http: ${http}`, env).http.host).toBe(host)
})

test('all problems come out at once, whatever finds them', () => {
  const yaml = `
targets:
  - { app_id: a1, region: mars, api_key: k, base_url: http://x.example/v3 }
  - { name: a1, app_id: a2, region: us, api_key_file: ./nowhere, query: { page: 1, status: [ended] } }
  - 7
poll: { interval: soon, intervall: 15s, page_size: 0 }
store: { history: 1h, histori: 2h }
notify:
  slack: { webhook_url: \${HOOK} }
  heartbeat: { interval: 0 }
  routes: [{ match: { alert: C }, notify: [slack, webhook] }]
  mutes: [{ start: daily, duration: 1h }]
alerts:
  - { name: A, signal: failure_ratio, above: 0.3, clear: 0.4, window: 2h, min_call: 3 }
  - { name: A, signal: guess }
  - { name: B, signal: calls_finished, by: [type, target], match: { mod: call }, only_if: { offset: 7d } }
http: { auth: { username: "a:b" } }
log: 3
`
  const lines = problemsWhenLoading({ env: {}, cwd: folderWith({ 'callwatch.yaml': yaml }) }).split('\n')
  expect(lines.map((line) => line.split(': ')[1]).toSorted(byText)).toEqual(
    [
      'targets[0].region',
      'targets[0].region',
      'targets[0].base_url',
      'targets[1].name',
      'targets[1].api_key_file',
      'targets[1].query.page',
      'targets[1].query.status',
      'targets[2]',
      'poll.interval',
      'poll.intervall',
      'poll.page_size',
      'store.histori',
      'notify.slack.webhook_url',
      'notify.heartbeat.interval',
      'notify.heartbeat.url',
      'notify.routes[0].match.alert',
      'notify.routes[0].notify[1]',
      'notify.mutes[0].start',
      'alerts[0].clear',
      'alerts[0].window',
      'alerts[0].min_call',
      'alerts[1].name',
      'alerts[1].signal',
      'alerts[2].above',
      'alerts[2].by[1]',
      'alerts[2].match.mod',
      'alerts[2].only_if.at_least',
      'alerts[2].only_if.offset',
      'http.auth.password',
      'http.auth.username',
      'log',
    ].toSorted(byText),
  )
})

function byText(a = '', b = '') {
  return a < b ? -1 : Number(a > b)
}

function load(yaml: string, env: Partial<Record<string, string>> = {}) {
  return loadConfig({ env, cwd: folderWith({ 'callwatch.yaml': yaml }) })
}
