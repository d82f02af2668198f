import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { identityOf } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { configTo } from '../../kit/daemon/daemon-in-process.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { startWorld } from '../../kit/world/start-world.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { closedPort, localServer } from '../../kit/commands/local-server.ts'

const KEY = 'hunter2-hunter2'

type Keys = Awaited<ReturnType<typeof startWorld>>['keys']

async function simulator() {
  const started = await startWorld({ apiKey: KEY, authOnlyKey: 'hunter2-auth-only' })
  onTestFinished(started.close)
  return started
}

describe('check', () => {
  test('prints the whole configuration with every secret masked', async () => {
    const yaml = `
targets: [{ name: production, app_id: x1, region: us, api_key: "\${KEY}" }]
notify: { slack: { webhook_url: https://hooks.example/services/hunter2 } }
`
    const env = { KEY }
    const { code, stdout, stderr } = await callwatch(['check', '--config', configFile(yaml)], { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('name: production')
    expect(stdout).toContain('interval: 15s')
    expect(stdout.match(/\*{8}/g)).toHaveLength(2)
    expect(stdout).not.toContain('hunter2')
  })

  test('warns of each shipped rule that store.history is too short for', async () => {
    const config = configFile(
      'targets: [{ name: production, app_id: x1, region: us, api_key: key }]\nstore: { history: 1h }\n',
    )
    const { code, stdout } = await callwatch(['check', '--config', config])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^targets:\n[^]*\n# The configuration is valid\.\n# warning: the shipped rule NoCalls was left out: .*\n# warning: the shipped rule FewerCalls .*\n$/,
    )
    const json = JSON.parse((await callwatch(['check', '--json', '--config', config])).stdout)
    expect(json.warnings).toEqual(
      ['NoCalls', 'FewerCalls'].map((name) => expect.stringContaining(`${name} was left out`)),
    )
    const others = await callwatch(['silence', 'list', '--config', config])
    expect(others.stderr).toMatch(
      /^warning: the shipped rule NoCalls was left out: .*\nwarning: the shipped rule FewerCalls .*\n/,
    )
  })

  test('says what the names of targets mean in the store, and writes nothing', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const checked = async (keys: string) => {
      const target = `{ base_url: 'https://calls.example/v3', api_key: key, ${keys} }`
      const config = configFile(`targets: [${target}]\nstore: { path: '${file}' }\n`)
      const { code, stdout, stderr } = await callwatch(['check', '--config', config])
      const json = JSON.parse((await callwatch(['check', '--json', '--config', config])).stdout)
      return {
        code,
        said: stdout.trimEnd().split('\n').at(-1)! + stderr,
        warnings: json.warnings,
        problems: json.problems,
      }
    }
    const fine = { code: 0, said: '# The configuration is valid.', warnings: [] }
    expect(await checked('name: new')).toMatchObject(fine)
    const store = openSqliteStore({ path: file })
    await store.openTarget(identityOf(configTo('https://calls.example/v3').targets[0]!), 0, 0)
    await store.close()
    const advice =
      'target new has the address and app of production, which is no longer configured, and is counted from nothing; set ' +
      '`formerly: production` on it to continue the counts, history and alerts of production'
    expect(await checked('name: new')).toMatchObject({ code: 0, said: `# warning: ${advice}`, warnings: [advice] })
    expect(await checked('name: new, formerly: production')).toMatchObject(fine)
    expect(await checked('name: new, query: { mode: call }')).toMatchObject(fine)
    const problem =
      'target new cannot continue production, which had another address, on_behalf_of or query when its calls were counted; ' +
      'remove `formerly: production` to count new from nothing'
    const refused = await checked('name: new, formerly: production, query: { mode: call }')
    expect(refused).toMatchObject({ code: 2, said: expect.stringContaining(problem) })
    expect(refused.problems).toEqual([{ path: 'targets', message: problem }])
    expect(await checked('name: new')).toMatchObject({ warnings: [advice] })
  })

  test('warns of an address of Slack that starts a workflow, which shows none of our messages, and names no secret', async () => {
    const config = configFile(`
targets: [{ name: production, app_id: x1, region: us, api_key: key }]
notify:
  slack: { webhook_url: https://hooks.slack.com/triggers/T0/hunter2 }
  receivers:
    - { name: on-call, slack: { webhook_url: 'https://hooks.slack.com:443/workflows/T0/A0/hunter2' } }
    - { name: team, slack: { webhook_url: https://hooks.slack.com/services/T0/B0/hunter2 } }
    - { name: chat, slack: { webhook_url: https://chat.example/workflows/hunter2 } }
`)
    const warning = (name: string, path: string) =>
      `the receiver ${name}: its webhook_url (${path}…) starts a workflow, which does not show these messages; ` +
      'expected an incoming webhook, https://hooks.slack.com/services/…'
    const all = [warning('slack', '/triggers/'), warning('on-call', '/workflows/')]
    const { code, stdout } = await callwatch(['check', '--config', config])
    expect(code).toBe(0)
    const said = ['# The configuration is valid.', ...all.map((one) => `# warning: ${one}`)]
    expect(stdout.split('\n').filter((line) => line.startsWith('#'))).toEqual(said)
    expect(stdout).not.toContain('hunter2')
    const json = JSON.parse((await callwatch(['check', '--json', '--config', config])).stdout)
    expect(json.warnings).toEqual(all)
  })

  test('--store says last what it found', async () => {
    const file = join(temporaryFolder(), 'data.db')
    await openSqliteStore({ path: file }).close()
    const config = configFile(
      `targets: [{ name: production, app_id: x1, region: us, api_key: key }]\nstore: { path: '${file}' }\n`,
    )
    const { code, stdout } = await callwatch(['check', '--store', '--config', config])
    expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
      code: 0,
      last: expect.stringMatching(/^✓ store: /),
    })
  })

  test('masks a short key without masking the same word elsewhere', async () => {
    const env = { CALLWATCH_APP_ID: 'x1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'call' }
    const { stdout } = await callwatch(['check'], { env })
    expect(stdout).toContain('path: data/callwatch.db')
    expect(stdout).toContain('api_key: "********"')
  })

  test.each([
    ['?connect_timeout=3', 'has a parameter connect_timeout; remove it, known are'],
    ['?sslmode=allow', 'has sslmode=allow; it must be prefer or'],
  ])('refuses a store address that no daemon could use: %s', async (query, problem) => {
    const env = { CALLWATCH_APP_ID: 'x1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: KEY }
    const address = `postgres://u:hunter2@127.0.0.1/callwatch${query}`
    const asText = await callwatch(['check'], { env: { ...env, CALLWATCH_STORE_URL: address } })
    expect(asText).toMatchObject({ code: 2, stderr: expect.stringContaining(`store.url: ${problem}`) })
    const asJson = await callwatch(['check', '--json'], { env: { ...env, CALLWATCH_STORE_URL: address } })
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      2,
      { valid: false, problems: [{ path: 'store.url', message: expect.stringContaining(problem) }] },
    ])
    expect(`${asText.stderr}${asJson.stdout}${asJson.stderr}`).not.toContain('hunter2')
  })

  test('requests nothing without --probe', async () => {
    let requests = 0
    const { url } = await localServer((_request, response) => {
      requests += 1
      response.end('{}')
    })
    const env = { CALLWATCH_BASE_URL: url, CALLWATCH_API_KEY: KEY }
    expect((await callwatch(['check'], { env })).code).toBe(0)
    expect(requests).toBe(0)
  })
})

describe('check --probe', () => {
  test('connects to a shared store, and says why it cannot', async () => {
    const port = await closedPort()
    const { url } = await simulator()
    const env = {
      CALLWATCH_BASE_URL: url,
      CALLWATCH_API_KEY: KEY,
      CALLWATCH_STORE_URL: `postgres://u:p@127.0.0.1:${port}/c`,
    }
    const { code, stdout } = await callwatch(['check', '--probe'], { env })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ store: the database c at 127\.0\.0\.1:\d+ cannot be reached \(.*ECONNREFUSED.*\)/m)
    const json = JSON.parse((await callwatch(['check', '--probe', '--json'], { env })).stdout)
    expect(json.store).toEqual({ works: false, message: expect.stringContaining('cannot be reached') })
    expect(json.probes).toMatchObject([{ works: true }])
  })

  test('requests each heartbeat, and says what its service refuses', async () => {
    const { url } = await simulator()
    const service = await localServer((_request, response) => response.end('OK (not found)'))
    const env = { CALLWATCH_BASE_URL: url, CALLWATCH_API_KEY: KEY }
    const file = configFile(`notify: { heartbeat: { url: '${service.url}/ping/secret' } }`)
    const { code, stdout } = await callwatch(['check', '--probe', '--config', file], { env })
    const message = 'the heartbeat URL refused the message with 200 (not found); check its url'
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(`✗ heartbeat: ${message}\n`) })
    const json = JSON.parse((await callwatch(['check', '--probe', '--json', '--config', file], { env })).stdout)
    expect(json.heartbeats).toEqual([{ receiver: 'heartbeat', works: false, message }])
  })

  async function probe(baseUrl: string, apiKey = KEY, more = '', timeout = '1m') {
    const yaml = `
targets: [{ name: production, base_url: '${baseUrl}', api_key: '${apiKey}'${more} }]
poll: { timeout: ${timeout} }
`
    const { code, stdout, stderr } = await callwatch(['check', '--probe', '--config', configFile(yaml)])
    expect(stderr).toBe('')
    expect(stdout).not.toContain('hunter2')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.pop()).toBe(code === 0 ? '1 ✓ 0 ✗' : '0 ✓ 1 ✗')
    const isFinding = (line: string) => line.startsWith('  ')
    return { code, verdicts: lines.filter((line) => !isFinding(line)), findings: lines.filter(isFinding) }
  }

  test('says that a good key works, and what the service does, with at most ten requests', async () => {
    const { url, responses } = await simulator()
    const { code, verdicts, findings } = await probe(url)
    expect(code).toBe(0)
    expect(verdicts).toEqual([
      expect.stringMatching(/^✓ production: List Calls works at http:\S+; its list has \d+ calls$/),
    ])
    expect(verdicts[0]).toContain(url)
    expect(findings).toContain('  ✓ unknown id: 404 with ERR_CALL_SESSION_NOT_FOUND')
    expect(findings).toContainEqual(expect.stringMatching(/^ {2}! compression: none: /))
    expect(responses()[0]!.path).toBe('/v3/calls?page=1&perPage=1')
    expect(responses().length).toBeLessThanOrEqual(10)
  })

  const withKey = (keyOf: (keys: Keys) => string) => async () => {
    const { url, keys } = await simulator()
    return { url, apiKey: keyOf(keys) }
  }
  const answering = (status: number, body: string) => () =>
    localServer((_request, response) => void response.writeHead(status, { 'retry-after': '30' }).end(body))
  const errorOf = (code: string, message = 'no') => JSON.stringify({ error: { code, message } })
  const quoted = `there is no key ${KEY} (${encodeURIComponent(KEY)})`

  test.each<[string, () => Promise<{ url: string; apiKey?: string }>, ...string[]]>([
    [
      'a wrong key',
      withKey(() => 'hunter2-wrong'),
      '✗ production: the key is not accepted; check api_key, and app_id and region, since a key belongs to one app (the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: The API key is not known.) (URL)',
    ],
    [
      'a key of scope authOnly',
      withKey(({ authOnly }) => authOnly),
      'use a key of scope fullAccess, not authOnly; if it is one, a firewall or a proxy in between refuses, or the plan of the app does: ' +
        'call logs are themselves a feature of a plan',
    ],
    [
      'a rate limit',
      answering(429, errorOf('ERR_TOO_MANY_REQUESTS')),
      'the key works, but the service refuses more requests for now',
    ],
    [
      'that nothing is listening on the port',
      async () => ({ url: `http://127.0.0.1:${await closedPort()}/v3` }),
      'connection refused',
      'URL',
    ],
    [
      'an HTML page instead of the calls service',
      answering(200, '<!doctype html><title>Welcome</title>'),
      'URL is not the calls service; check app_id',
    ],
    [
      'an unknown app, and names the region',
      answering(404, errorOf('ERR_APP_NOT_FOUND')),
      'URL does not exist; check app_id and region',
    ],
    [
      'a TLS failure',
      async () => ({ url: `https://127.0.0.1:${(await localServer(() => undefined)).port}/v3` }),
      'TLS',
    ],
    ['a quoted key, masked', answering(401, errorOf('AUTH_ERR_APIKEY_NOT_FOUND', quoted)), 'there is no key ********'],
  ])('reports %s', async (_what, service, ...sentences) => {
    const { url, apiKey } = await service()
    const { code, verdicts } = await probe(url, apiKey)
    expect([code, verdicts.length]).toEqual([1, 1])
    for (const sentence of sentences) expect(verdicts[0]).toContain(sentence.replace('URL', url))
  })

  test('reports a timeout', async () => {
    const { url } = await localServer(() => undefined)
    const { code, verdicts } = await probe(url, KEY, '', '500ms')
    expect([code, verdicts]).toEqual([
      1,
      [expect.stringContaining(`no answer from ${url} within 0.5 s; check the network`)],
    ])
  })

  test('reports a host that does not exist, as with a wrong region', async () => {
    const { code, verdicts } = await probe('https://callwatch-test.invalid/v3')
    expect(code).toBe(1)
    expect(verdicts).toEqual([
      expect.stringMatching(
        /there is no host callwatch-test\.invalid; check app_id and region or base_url|could not be looked up/,
      ),
    ])
  })

  test.each([
    ['AUTH_ERR_INVALID_APPID', 401, 'unknown_app', 'the service has no such app; check app_id and region, or base_url'],
    ['ERR_PLAN_QUOTA_RESTRICTION', 429, 'plan', "the quota of the app's plan is used up; raise it in"],
    ['ERR_PLAN_RESTRICTION', 403, 'plan', 'the plan of the app does not include this; change the plan in'],
  ])('explains %s with the status %i, which is not about the key', async (code, status, kind, words) => {
    const { url } = await answering(status, errorOf(code))()
    const { code: exit, verdicts } = await probe(url)
    expect(exit).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining(`✗ production: ${words}`)])
    expect(verdicts[0]).toContain(`(${url})`)
    expect(verdicts[0]).not.toContain('api_key')
    expect(verdicts[0]!.includes('; call logs are themselves a feature of a plan: ')).toBe(kind === 'plan')
    const env = { CALLWATCH_BASE_URL: url, CALLWATCH_API_KEY: KEY }
    expect(JSON.parse((await callwatch(['check', '--probe', '--json'], { env })).stdout)).toMatchObject({
      probes: [{ kind }],
    })
  })

  test.each([
    [-7300, "this machine's clock is 2 h ahead of the service's"],
    [300, "this machine's clock is 5 min behind the service's"],
  ])("warns that the service's clock is %i s ahead", async (dateOffset, warning) => {
    const { url, setSwitches } = await simulator()
    setSwitches({ dateOffset })
    const { code, verdicts } = await probe(url)
    expect(code).toBe(0)
    expect(verdicts).toEqual([
      expect.stringContaining('List Calls works'),
      expect.stringContaining(`# production: warning: ${warning}`),
    ])
  })

  test('does not warn of clocks that differ by half a minute', async () => {
    const { url, setSwitches } = await simulator()
    setSwitches({ dateOffset: 30 })
    expect((await probe(url)).verdicts).toHaveLength(1)
  })

  test('warns that the user of on_behalf_of sees no calls', async () => {
    const { url } = await simulator()
    const { code, verdicts } = await probe(url, KEY, ', on_behalf_of: nobody-of-this-name')
    expect(code).toBe(0)
    expect(verdicts).toEqual([
      `✓ production: List Calls works at ${url}; its list has no calls`,
      expect.stringContaining('# production: warning: the user nobody-of-this-name sees no calls; check the uid'),
    ])
  })

  test('warns of an empty list, which an app has, too, whose plan does not include call logs', async () => {
    const { url } = await localServer((_request, response) => void response.end('{"data":[],"meta":{}}'))
    const { code, verdicts } = await probe(url)
    expect([code, verdicts]).toEqual([
      0,
      [
        `✓ production: List Calls works at ${url}; its list has no calls`,
        '# production: warning: the list is empty; if there have been calls, call logs are themselves a feature of a plan: check whether ' +
          'the plan of the app includes them',
      ],
    ])
    const env = { CALLWATCH_BASE_URL: url, CALLWATCH_API_KEY: KEY }
    expect(JSON.parse((await callwatch(['check', '--probe', '--json'], { env })).stdout)).toMatchObject({
      probes: [{ warnings: [{ kind: 'empty_list' }] }],
    })
  })

  test('masks a key that the service shows as a label', async () => {
    const { url } = await localServer((_request, response) => {
      response.end(JSON.stringify({ data: [{ sessionId: 'a', status: KEY }] }))
    })
    const { findings } = await probe(url)
    expect(findings).toContainEqual(expect.stringContaining('! values: status ********: '))
  })

  test('probes all targets, and fails if one fails', async () => {
    const { url } = await simulator()
    const yaml = `
targets:
  - { name: broken, base_url: 'http://127.0.0.1:${await closedPort()}', api_key: '${KEY}' }
  - { name: working, base_url: '${url}', api_key: '${KEY}' }
`
    const { code, stdout } = await callwatch(['check', '--probe', '--config', configFile(yaml)])
    expect(code).toBe(1)
    expect(stdout.match(/^\S.*/gm)?.slice(0, 3)).toEqual([
      expect.stringMatching(/^✗ broken: no answer from the service/),
      expect.stringMatching(/^✓ working: List Calls works/),
      '1 ✓ 1 ✗',
    ])
    const one = await callwatch(['check', '--probe', '--target', 'working', '--config', configFile(yaml)])
    expect([one.code, one.stdout.match(/^\S.*/gm)?.[1]]).toEqual([0, '1 ✓ 0 ✗'])
    expect(stdout).not.toContain('\ntargets:\n')
  })
})

describe('check --json', () => {
  const document = (stdout: string): unknown => JSON.parse(stdout)

  test('prints one document: the configuration with its secrets masked, and the result of each probe', async () => {
    const { url } = await simulator()
    const port = await closedPort()
    const yaml = `
targets:
  - { name: working, base_url: '${url}', api_key: '${KEY}' }
  - { name: broken, base_url: 'http://127.0.0.1:${port}', api_key: '${KEY}' }
`
    const { code, stdout, stderr } = await callwatch(['check', '--probe', '--json', '--config', configFile(yaml)])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).not.toContain('hunter2')
    expect(document(stdout)).toMatchObject({
      valid: true,
      config: { targets: [{ name: 'working', api_key: '********' }, { name: 'broken' }], poll: { interval: '15s' } },
      probes: [
        {
          target: 'working',
          works: true,
          kind: 'works',
          warnings: [],
          calls: expect.any(Number),
          findings: expect.any(Array),
        },
        { target: 'broken', works: false, kind: 'connection_refused', message: expect.stringContaining('refused') },
      ],
    })
  })

  test('requests nothing without --probe', async () => {
    const env = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1', CALLWATCH_API_KEY: KEY }
    const { code, stdout } = await callwatch(['check', '--json'], { env })
    expect(code).toBe(0)
    expect(document(stdout)).not.toHaveProperty('probes')
  })

  test('prints the problems of an invalid configuration, with exit 2 and the same sentences for people', async () => {
    const file = configFile('poll: { interval: 15 }')
    const ended = await callwatch(['check', '--json', '--config', file])
    expect(ended.code).toBe(2)
    expect(document(ended.stdout)).toEqual({
      valid: false,
      problems: expect.arrayContaining([
        {
          place: `${file}:1:9`,
          path: 'poll.interval',
          message: expect.stringContaining('found `15`; expected a duration'),
        },
      ]),
    })
    expect(ended.stderr).toContain('poll.interval: found `15`')
  })

  test('prints no characters that reverse or hide text', async () => {
    const ended = await callwatch(['check', '--config', configFile('"in\u202Eter\u200Bval": 15')])
    expect(ended.stderr).toContain('interval')
    const named = configFile('targets: [{ name: a, app_id: a1, region: us, api_key: k, query: { tag: "x\u202Ey" } }]')
    const shown = await callwatch(['check', '--config', named])
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('tag: xy') })
  })
})
