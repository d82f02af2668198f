import { describe, expect, test } from 'vitest'
import { callwatch } from '../../kit/commands/callwatch.ts'

const TARGET = {
  CALLWATCH_BASE_URL: 'https://calls.example/v3',
  CALLWATCH_API_KEY: 'k',
  CALLWATCH_STORE_PATH: ':memory:',
}

describe('the variables of proxies', () => {
  test.each([
    ['HTTPS_PROXY', 'http://me:hunter2@pro xy:8080'],
    ['HTTP_PROXY', 'http://me:hunter2@proxy:99999'],
    ['https_proxy', 'http://me:hunter2#@proxy'],
    ['http_proxy', 'http://me:hunter2%@proxy'],
    ['HTTPS_PROXY', 'me:hunter2@proxy:8080'],
    ['HTTPS_PROXY', 'ftp://me:hunter2@proxy:8080'],
    ['ALL_PROXY', 'proxy:8080'],
  ])('are checked before one is used, without their password: %s=%s', async (name, value) => {
    const env = { ...TARGET, [name]: value }
    const message =
      `1 problem in the configuration\n${name}: found a value (hidden, it may have a password); expected the URL of a ` +
      'proxy such as `http://user:PASSWORD@proxy.example:3128`, with what is neither letter nor digit in user and ' +
      'password percent-encoded\n'
    for (const command of ['check', 'run', 'test-notify']) {
      expect(await callwatch([command], { env })).toEqual({ code: 2, stdout: '', stderr: message })
    }
  })

  test.each([
    { HTTPS_PROXY: 'http://me:hunter2%25@proxy:8080', HTTP_PROXY: '' },
    { https_proxy: 'https://proxy', http_proxy: 'socks5://proxy:1080' },
    { ALL_PROXY: 'socks5h://me:hunter2@proxy:1080' },
    { ALL_PROXY: 'none', HTTPS_PROXY: 'http://proxy', HTTP_PROXY: '' },
    // The lower case is used.
    { https_proxy: 'http://proxy', HTTPS_PROXY: 'none' },
    { https_proxy: '', HTTPS_PROXY: 'none' },
  ])('may be %j', async (proxies) => {
    expect(await callwatch(['check'], { env: { ...TARGET, ...proxies } })).toMatchObject({ code: 0, stderr: '' })
  })
})
