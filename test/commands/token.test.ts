import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { callwatch, configFile } from './callwatch.ts'
import { localServer } from './local-server.ts'

async function chatService() {
  const { url, keys, close } = await startSimulator({ apiKey: 'hunter2-full', authOnlyKey: 'hunter2-auth-only' })
  onTestFinished(close)
  const target = (name: string, apiKey: string) =>
    `{ name: ${name}, base_url: '${url}', chat_base_url: '${url}', api_key: '${apiKey}' }`
  return { url, keys, target }
}

const withTargets = (...targets: string[]) => ['--config', configFile(`targets: [${targets.join(', ')}]`)]

test.each(['fullAccess', 'authOnly'] as const)(
  'token creates and prints a token with a key of scope %s',
  async (scope) => {
    const { keys, target } = await chatService()
    const ended = await callwatch(['token', 'ann lee', ...withTargets(target('a', keys[scope]))])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toMatch(/^ann lee_[0-9a-f]{40}\n$/)
  },
)

test('token needs --target with several targets', async () => {
  const { keys, target } = await chatService()
  const config = withTargets(target('a', 'hunter2-wrong'), target('b', keys.fullAccess))
  const open = await callwatch(['token', 'ann', ...config])
  expect(open).toMatchObject({ code: 2, stdout: '' })
  expect(open.stderr).toBe('there are several targets; choose one with --target: a, b\n')
  const wrong = await callwatch(['token', 'ann', '--target', 'c', ...config])
  expect(wrong).toMatchObject({ code: 2, stderr: 'there is no target c; there is: a, b\n' })
  const chosen = await callwatch(['token', 'ann', '--target', 'b', ...config])
  expect(chosen).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ann_/) })
})

test('token for a target without a known chat service says what to set', async () => {
  const { url } = await chatService()
  const ended = await callwatch(['token', 'ann', ...withTargets(`{ name: a, base_url: '${url}', api_key: k }`)])
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toContain('set its chat_base_url too')
})

test('token exits 1 with a sentence when the service refuses, without the key that it quotes', async () => {
  const { url } = await localServer((request, response) => {
    const message = `there is no key ${String(request.headers['apikey'])}`
    response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message } }))
  })
  const target = `{ name: a, base_url: '${url}', chat_base_url: '${url}', api_key: hunter2-wrong }`
  const ended = await callwatch(['token', 'ann', ...withTargets(target)])
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain('there is no key ********')
  expect(ended.stderr).not.toMatch(/hunter2|^\s+at /m)
})
