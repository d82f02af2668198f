import { describe, expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { callwatch, configFile } from './callwatch.ts'
import { closedPort, localServer } from './local-server.ts'

const KEY = 'hunter2-hunter2'

async function simulator() {
  const started = await startSimulator({ apiKey: KEY, authOnlyKey: 'hunter2-auth-only' })
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

  test('prints all else as it is, though a key be as short as a word of it', async () => {
    const env = { CALLWATCH_APP_ID: 'x1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'call' }
    const { stdout } = await callwatch(['check'], { env })
    expect(stdout).toContain('path: data/callwatch.db')
    expect(stdout).toContain('api_key: "********"')
  })

  test('asks nobody without --probe', async () => {
    let asked = 0
    const { url } = await localServer((_request, response) => {
      asked += 1
      response.end('{}')
    })
    const env = { CALLWATCH_BASE_URL: url, CALLWATCH_API_KEY: KEY }
    expect((await callwatch(['check'], { env })).code).toBe(0)
    expect(asked).toBe(0)
  })
})

describe('check --probe', () => {
  async function probe(baseUrl: string, apiKey = KEY) {
    const yaml = `
targets: [{ name: production, base_url: '${baseUrl}', api_key: '${apiKey}' }]
poll: { timeout: 500ms }
`
    const { code, stdout, stderr } = await callwatch(['check', '--probe', '--config', configFile(yaml)])
    expect(stderr).toBe('')
    expect(stdout).not.toContain('hunter2')
    const verdicts = stdout.split('\n').filter((line) => line.startsWith('# '))
    return { code, verdicts }
  }

  test('says that a good key works, with one request', async () => {
    const { url, responses } = await simulator()
    expect(await probe(url)).toEqual({ code: 0, verdicts: [`# production: List Calls works at ${url}`] })
    expect(responses().map(({ path }) => path)).toEqual(['/v3/calls?page=1&perPage=1'])
  })

  test('tells a wrong key', async () => {
    const { url } = await simulator()
    const { code, verdicts } = await probe(url, 'hunter2-wrong')
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining(`the key is not accepted at ${url}; check api_key, and app_id`)])
  })

  test('tells a key of scope authOnly', async () => {
    const { url, keys } = await simulator()
    const { code, verdicts } = await probe(url, keys.authOnly)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining('its scope is authOnly; use a key of scope fullAccess')])
  })

  test('tells a limit of requests', async () => {
    const { url } = await localServer((_request, response) => {
      response.writeHead(429, { 'retry-after': '30' }).end('{"error":{"code":"ERR_TOO_MANY_REQUESTS","message":"x"}}')
    })
    const { code, verdicts } = await probe(url)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining('the key works, but the service refuses more requests for now')])
  })

  test('tells that nobody listens', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/v3`
    const { code, verdicts } = await probe(url)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining('the connection was refused')])
    expect(verdicts[0]).toContain(url)
  })

  test('tells an HTML page from the calls service', async () => {
    const { url } = await localServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Welcome</title>')
    })
    const { code, verdicts } = await probe(url)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining(`what answers at ${url} is not the calls service; check app_id`)])
  })

  test('tells a host that does not exist, as a wrong region makes one', async () => {
    const { code, verdicts } = await probe('https://callwatch-test.invalid/v3')
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringMatching(/no such host; check app_id, region|could not be looked up/)])
  })

  test('tells that no answer comes', async () => {
    const { url } = await localServer(() => undefined)
    const { code, verdicts } = await probe(url)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining(`no answer from ${url} within 0.5 s; check the network`)])
  })

  test('tells a failure of TLS', async () => {
    const { port } = await localServer(() => undefined)
    const { code, verdicts } = await probe(`https://127.0.0.1:${port}/v3`)
    expect(code).toBe(1)
    expect(verdicts).toEqual([expect.stringContaining('TLS')])
  })

  test('does not repeat a key that the service quotes', async () => {
    const { url } = await localServer((_request, response) => {
      const message = `there is no key ${KEY} (${encodeURIComponent(KEY)})`
      response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message } }))
    })
    const { verdicts } = await probe(url)
    expect(verdicts).toEqual([expect.stringContaining('there is no key ********')])
  })

  test('goes through all targets, and fails if one does', async () => {
    const { url } = await simulator()
    const yaml = `
targets:
  - { name: broken, base_url: 'http://127.0.0.1:${await closedPort()}', api_key: '${KEY}' }
  - { name: working, base_url: '${url}', api_key: '${KEY}' }
`
    const { code, stdout } = await callwatch(['check', '--probe', '--config', configFile(yaml)])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^# broken: no answer from the service/m)
    expect(stdout).toMatch(/^# working: List Calls works/m)
  })
})
