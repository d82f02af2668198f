import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { secretsOf } from '../../../src/config/secrets.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'

const target = 'targets: [{ name: production, app_id: a1, region: us, api_key: the-key }]\n'

describe('where alerts go', () => {
  test('an Alertmanager beside callwatch, over plain http, without a slash at the end', () => {
    for (const url of ['http://alertmanager:9093', 'http://alertmanager:9093/', 'https://am.example/prefix//']) {
      expect(load(`notify: { alertmanager: { url: "${url}" } }`).notify.receivers[0]?.config).toStrictEqual({
        url: url.replace(/\/+$/, ''),
      })
    }
  })

  test('a webhook with headers, and a heartbeat', () => {
    const source = `notify:
      webhook: { url: https://hooks.example/x, headers: { Authorization: Bearer \${TOKEN}, x-team: calls } }
      heartbeat: { url: "http://localhost:1/ping?id=7" }`
    expect(load(source, { TOKEN: 'abc' }).notify).toStrictEqual({
      groupBy: ['alert', 'severity'],
      groupInterval: 300,
      receivers: [
        {
          name: 'webhook',
          type: 'webhook',
          config: {
            url: 'https://hooks.example/x',
            headers: { Authorization: 'Bearer abc', 'x-team': 'calls' },
          },
        },
        { name: 'heartbeat', type: 'heartbeat', config: { url: 'http://localhost:1/ping?id=7' } },
      ],
      routes: [],
      inhibit: [],
      mutes: [],
      reports: [],
    })
    const bare = load('notify: { webhook: { url: https://hooks.example/x } }')
    expect(bare.notify.receivers[0]?.config).toStrictEqual({
      url: 'https://hooks.example/x',
      headers: {},
    })
  })

  test('reports, in UTC, to all receivers unless said otherwise', () => {
    const source = `notify:
      slack: { webhook_url: https://hooks.slack.example/x }
      reports:
        - { every: day, at: 09:00 }
        - { every: month, at: "23:59", timezone: Asia/Kolkata, receivers: [slack] }`
    expect(load(source).notify.reports).toStrictEqual([
      { every: 'day', at: '09:00', timezone: 'UTC' },
      { every: 'month', at: '23:59', timezone: 'Asia/Kolkata', receivers: ['slack'] },
    ])
  })

  test('routes, in their order, to what is configured', () => {
    const source = `notify:
      slack: { webhook_url: https://hooks.slack.example/x }
      webhook: { url: https://hooks.example/x }
      routes:
        - match: { alert: NoGoodPoll, severity: critical, target: production, type: audio, mode: call, receiver_type: user }
          notify: [webhook, slack]
        - { match: { severity: info }, notify: [] }
        - { notify: [slack] }`
    expect(load(source).notify.routes).toStrictEqual([
      {
        match: {
          alert: 'NoGoodPoll',
          severity: 'critical',
          target: 'production',
          type: 'audio',
          mode: 'call',
          receiver_type: 'user',
        },
        notify: ['webhook', 'slack'],
      },
      { match: { severity: 'info' }, notify: [] },
      { match: {}, notify: ['slack'] },
    ])
  })

  test('a route by regular expressions', () => {
    const source = `notify:
      slack: { webhook_url: https://hooks.slack.example/x }
      routes:
        - match: { alert: =~No.*, severity: '=~critical|warning', target: '=~prod.*' }
          notify: [slack]`
    expect(load(source).notify.routes[0]?.match).toStrictEqual({
      alert: '=~No.*',
      severity: '=~critical|warning',
      target: '=~prod.*',
    })
  })

  test('a route to a channel that only the environment names', () => {
    const source = 'notify: { routes: [{ notify: [slack] }] }'
    const config = load(source, { SLACK_WEBHOOK_URL: 'https://hooks.slack.example/x' })
    expect(config.notify.routes).toEqual([{ match: {}, notify: ['slack'] }])
  })

  test('any number of each type by name, beside those under the keys of their types, and routes to them', () => {
    const source = `notify:
      slack: { webhook_url: https://hooks.slack.example/all }
      receivers:
        - { name: on-call, slack: { webhook_url: https://hooks.slack.example/on-call } }
        - { name: Sales & co, webhook: { url: https://hooks.example/sales } }
        - { name: am, alertmanager: { url: "http://am:9093/" } }
      routes:
        - { match: { severity: critical }, notify: [on-call, slack] }
        - { match: { target: production }, notify: [Sales & co] }`
    const { notify } = load(source)
    expect(notify.receivers.map(({ name, type }) => [name, type])).toEqual([
      ['slack', 'slack'],
      ['on-call', 'slack'],
      ['Sales & co', 'webhook'],
      ['am', 'alertmanager'],
    ])
    expect(notify.receivers[1]?.config).toEqual({ webhookUrl: 'https://hooks.slack.example/on-call' })
    expect(notify.receivers[3]?.config).toEqual({ url: 'http://am:9093' })
    expect(notify.routes.map((route) => route.notify)).toEqual([['on-call', 'slack'], ['Sales & co']])
  })

  test('a receiver under the key of its type is one of that name, and both are printed as the first', () => {
    const webhook = '{ url: https://hooks.example/x, headers: { x-team: calls } }'
    const short = load(`notify: { webhook: ${webhook}, group_wait: 0s }`)
    const long = load(`notify: { receivers: [{ name: webhook, webhook: ${webhook} }], group_wait: 0s }`)
    expect(long.notify).toStrictEqual(short.notify)
    expect(maskConfig(long)).toBe(maskConfig(short))
    expect(maskConfig(long)).toMatch(/^ {2}group_wait: 0s\n {2}group_interval: 5m\n {2}webhook:\n {4}url: /m)
  })

  test('variables of the environment fill the section of a type, and none of its named receivers', () => {
    const env = { SLACK_WEBHOOK_URL: 'https://hooks.slack.example/env' }
    expect(load('notify:', env).notify.receivers.map(({ name }) => name)).toEqual(['slack'])
    const named = load('notify: { receivers: [{ name: ops, slack: { webhook_url_file: w } }] }', env, target, {
      w: 'https://hooks.slack.example/own',
    })
    expect(named.notify.receivers.map(({ name, config }) => [name, config])).toEqual([
      ['slack', { webhookUrl: 'https://hooks.slack.example/env' }],
      ['ops', { webhookUrl: 'https://hooks.slack.example/own' }],
    ])
    expect(maskConfig(named)).not.toContain('hooks.slack.example')
    expect(secretsOf(named)).toContain('https://hooks.slack.example/own')
  })

  test('mutes of everything, and of some alerts in a time zone', () => {
    const source = `notify:
      mutes:
        - { start: 0 2 * * 6, duration: 90m }
        - { start: "*/30 8-18 29 2 MON-FRI", duration: 1m, timezone: America/New_York, match: { target: production, mode: } }`
    expect(load(source).notify.mutes).toStrictEqual([
      { start: '0 2 * * 6', duration: 5400, timezone: 'UTC', match: {} },
      {
        start: '*/30 8-18 29 2 MON-FRI',
        duration: 60,
        timezone: 'America/New_York',
        match: { target: 'production' },
      },
    ])
  })

  test('inhibition by the words of matches', () => {
    const source = `notify:
      inhibit:
        - { source_match: { severity: critical }, target_match: { severity: info } }
        - { source_match: { target: production }, target_match: {}, equal: [type, alert] }`
    expect(load(source).notify.inhibit).toStrictEqual([
      { sourceMatch: { severity: 'critical' }, targetMatch: { severity: 'info' }, equal: ['target'] },
      { sourceMatch: { target: 'production' }, targetMatch: {}, equal: ['type', 'alert'] },
    ])
  })

  test('a mute may last until its next start where it pauses before another: a weekend is two days', () => {
    const source = `notify:
      mutes:
        - { start: "0 0 * * 6,0", duration: 1d }
        - { start: "*/30 8-18 * * *", duration: 30m }
        - { start: 0 2 * * *, duration: 1439m }`
    const durations = load(source).notify.mutes.map(({ duration }) => duration)
    expect(durations).toEqual([86_400, 1800, 86_340])
  })

  test('a report of a week where calls are kept for 8 days, and calls kept for less without one', () => {
    const weekly = 'notify: { reports: [{ every: week, at: 09:00 }] }'
    expect(load(`${weekly}\nstore: { history: 8d }`).store.history).toBe(691_200)
    expect(load('notify: { reports: }\nstore: { history: 7d }').store.history).toBe(604_800)
  })

  test('an alert and a target that have their names from elsewhere', () => {
    const source = `alerts: [{ name: Mine, signal: poll_age, above: 1m }]
notify: { mutes: [{ start: 0 2 * * 6, duration: 1h, match: { alert: Mine, target: calls.example } }] }
targets: [{ base_url: https://calls.example/v3, api_key: k }]`
    expect(load(source, {}, '').notify.mutes[0]?.match).toEqual({ alert: 'Mine', target: 'calls.example' })
  })
})

describe('an Alertmanager that wants a login or headers', () => {
  const of = (keys: string, url = 'https://am.example') =>
    load(`notify: { alertmanager: { url: '${url}', ${keys} } }`, {}, target, { p: 'pass word\n', t: 'Bearer t\n' })

  test('has a password and values of headers from files, too', () => {
    const config = of('username: ann, password_file: p, headers: { X-Scope-OrgID: calls, X-Token_file: t }')
    const headers = { 'X-Scope-OrgID': 'calls', 'X-Token': 'Bearer t' }
    const expected = { url: 'https://am.example', username: 'ann', password: 'pass word', headers }
    expect(config.notify.receivers[0]?.config).toStrictEqual(expected)
    expect(maskConfig(config)).not.toMatch(/pass word|Bearer t/)
    expect(secretsOf(config)).toEqual(expect.arrayContaining(['pass word', 'Bearer t']))
  })

  test('may get the name of a tenant over plain http', () => {
    expect(() => of('headers: { X-Scope-OrgID: calls }', 'http://mimir:8080/alertmanager')).not.toThrow()
    expect(() => of('username: a, password: b', 'http://127.0.0.1:9093')).not.toThrow()
  })

  test.each([
    ['username: ann', 'https://am.example', 'password: missing; expected the password of `username`'],
    ['password: b', 'https://am.example', 'username: missing; expected the user of the password'],
    ['username: "a:b", password: c', 'https://am.example', 'expected a user name without a colon'],
    ['username: a, password: b', 'http://am:9093', 'found plain http, which would show the password or headers'],
    ['headers: { Authorization_file: t }', 'http://am:9093', 'found plain http, which would show the password'],
    [
      'username: a, password: b, headers: { authorization: c }',
      'https://am.example',
      'username: not accepted together with the header `authorization`; expected one of them',
    ],
    ['headers: { host: x }', 'https://am.example', 'callwatch sets this header itself'],
  ])('refuses { %s } at %s', (keys, url, problem) => {
    const source = `${target}notify: { alertmanager: { url: '${url}', ${keys} } }\n`
    const cwd = folderWith({ 'callwatch.yaml': source, t: 'Bearer t\n' })
    expect(problemsWhenLoading({ env: {}, cwd })).toContain(problem)
  })
})

describe('secrets of a file', () => {
  const inFiles = `http: { auth: { username: ops, password_file: p } }
notify:
  webhook: { url_file: w, headers: { Authorization_file: h, x-plain: plain-secret } }
  heartbeat: { url_file: b }`
  const files = { p: 'pass word\n', w: 'https://hooks.example/w\n', h: 'Bearer h\n', b: 'https://ping.example/b\n' }

  test('may each stand in a file of their own, values of headers too', () => {
    const config = load(inFiles, {}, target, files)
    expect(config.http.auth).toStrictEqual({ username: 'ops', password: 'pass word' })
    expect(config.notify.receivers[0]?.config).toStrictEqual({
      url: 'https://hooks.example/w',
      headers: { Authorization: 'Bearer h', 'x-plain': 'plain-secret' },
    })
    expect(config.notify.receivers[1]?.config).toStrictEqual({ url: 'https://ping.example/b' })
  })

  test('are all masked in print, and all known', () => {
    const config = load(inFiles, {}, target, files)
    const printed = maskConfig(config)
    const secrets = [
      'https://hooks.example/w',
      'https://ping.example/b',
      'plain-secret',
      'pass word',
      'Bearer h',
      'the-key',
    ]
    for (const secret of secrets) expect(printed).not.toContain(secret)
    expect(printed.match(/: "\*{8}"$/gm)).toHaveLength(6)
    expect(printed).toContain('Authorization: "********"')
    expect(secretsOf(config).toSorted()).toEqual(secrets.toSorted())
  })
})

function load(source: string, env: Record<string, string> = {}, targets = target, files: Record<string, string> = {}) {
  return loadConfig({ env, cwd: folderWith({ ...files, 'callwatch.yaml': `${targets}${source}\n` }) })
}
