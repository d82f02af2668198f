import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { configWarnings } from '../../../src/config/warnings.ts'
import { folderWith } from './folder-with.ts'

test.each([
  ['{ find: true }', ['http.find: without http.auth nobody can search for calls']],
  ['{ find: true, auth: { username: ops, password: secret } }', []],
  ['{}', []],
])('of http: %s says %j', (http, expected) => {
  const yaml = `targets: [{ app_id: a1, region: us, api_key: k }]\nalerts: []\nhttp: ${http}\n`
  expect(configWarnings(loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': yaml }) }))).toEqual(expected)
})
