import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { folderWith } from './folder-with.ts'

const env = { CALLWATCH_APP_ID: 'a', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' }

test.each([
  ['{}', {}, '127.0.0.1'],
  ['{ auth: { username: ops, password: secret } }', {}, '::'],
  ['{ host: 0.0.0.0 }', {}, '0.0.0.0'],
  ['{ host: 127.0.0.1, auth: { username: ops, password: secret } }', {}, '127.0.0.1'],
  ['{}', { CALLWATCH_HTTP_HOST: '0.0.0.0' }, '0.0.0.0'],
  ['{ host: 127.0.0.1 }', { CALLWATCH_HTTP_HOST: '0.0.0.0' }, '127.0.0.1'],
])('with http: %s and %j in the environment callwatch listens on %s', (http, more, host) => {
  const cwd = folderWith({ 'callwatch.yaml': `http: ${http}` })
  expect(loadConfig({ env: { ...env, ...more }, cwd }).http.host).toBe(host)
})
