import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'

async function chatService() {
  const { url, keys, close } = await startSimulator({ apiKey: 'hunter2-full', authOnlyKey: 'hunter2-auth-only' })
  onTestFinished(close)
  const target = (name: string, apiKey: string) =>
    `{ name: ${name}, base_url: '${url}', chat_base_url: '${url}', api_key: '${apiKey}' }`
  return { url, keys, target }
}

const withTargets = (...targets: string[]) => ['--config', configFile(`targets: [${targets.join(', ')}]`)]

test.each(['fullAccess', 'authOnly'] as const)(
  'service token creates and prints a token with a key of scope %s',
  async (scope) => {
    const { keys, target } = await chatService()
    const ended = await callwatch(['service', 'token', 'ann lee', ...withTargets(target('a', keys[scope]))])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toMatch(/^ann lee_[0-9a-f]{40}\n$/)
  },
)

test('service token needs --target with several targets', async () => {
  const { keys, target } = await chatService()
  const config = withTargets(target('a', 'hunter2-wrong'), target('b', keys.fullAccess))
  const open = await callwatch(['service', 'token', 'ann', ...config])
  expect(open).toMatchObject({ code: 2, stdout: '' })
  expect(open.stderr).toBe('there are several targets; choose one with --target: a, b\n')
  const wrong = await callwatch(['service', 'token', 'ann', '--target', 'c', ...config])
  expect(wrong).toMatchObject({ code: 2, stderr: 'there is no target c; there is: a, b\n' })
  const chosen = await callwatch(['service', 'token', 'ann', '--target', 'b', ...config])
  expect(chosen).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ann_/) })
})

test('service token for a target without a known chat service says what to set', async () => {
  const { url } = await chatService()
  const ended = await callwatch([
    'service',
    'token',
    'ann',
    ...withTargets(`{ name: a, base_url: '${url}', api_key: k }`),
  ])
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toContain('set its chat_base_url too')
})

test('service token exits 1 with a sentence when the service refuses, without the key that it quotes', async () => {
  const { url } = await localServer((request, response) => {
    const message = `there is no key ${String(request.headers['apikey'])}`
    response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message } }))
  })
  const target = `{ name: a, base_url: '${url}', chat_base_url: '${url}', api_key: hunter2-wrong }`
  const ended = await callwatch(['service', 'token', 'ann', ...withTargets(target)])
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain('there is no key ********')
  expect(ended.stderr).not.toMatch(/hunter2|^\s+at /m)
})

test('service call prints the answer of Get Call as the service gave it', async () => {
  const answer = '{"data":{"sessionId":"a/b","status":"ended","undocumented":[1.50]}}'
  const { url } = await localServer(({ url: path, headers }, response) => {
    const isAsked = path === '/calls/a%2Fb' && headers['apikey'] === 'hunter2' && headers['onbehalfof'] === 'ann'
    response.writeHead(isAsked ? 200 : 500).end(answer)
  })
  const config = withTargets(`{ name: a, base_url: '${url}', api_key: hunter2, on_behalf_of: ann }`)
  expect(await callwatch(['service', 'call', 'a/b', ...config])).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' })
})

test('service call says that the service does not know a call', async () => {
  const { url, keys } = await chatService()
  const ended = await callwatch([
    'service',
    'call',
    'x',
    ...withTargets(`{ name: a, base_url: '${url}', api_key: ${keys.fullAccess} }`),
  ])
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ERR_CALL_SESSION_NOT_FOUND') })
})
