import { expect, test } from 'vitest'
import { loadConfig } from '../../../../src/config/load-config.ts'
import { folderWith } from '../folder-with.ts'
import { problemsWhenLoading } from '../problems-when-loading.ts'

const byEnvironment = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'secret-key' }

test('secrets in files of their own are read whole, without white space at the ends, from the folder of the file', () => {
  const cwd = folderWith({
    'etc/callwatch.yaml':
      'targets: [{ app_id: a1, region: us, api_key_file: keys/a1 }]\nnotify: { slack: { webhook_url_file: hook } }\n',
    'etc/keys/a1': '\n  secret key \r\n',
    'etc/hook': 'https://hooks.slack.example/x\n',
  })
  const config = loadConfig({ file: 'etc/callwatch.yaml', env: {}, cwd })
  expect(config.targets[0]?.apiKey).toBe('secret key')
  expect(config.notify.receivers[0]?.config).toEqual({ webhookUrl: 'https://hooks.slack.example/x' })
})

test('the address of a shared store may stand in a file', () => {
  const url = 'postgres://callwatch:secret@db1,db2/callwatch'
  const cwd = folderWith({ 'callwatch.yaml': 'store: { url_file: ./url, lease: 30s }', url: `${url}\n`, other: 'x' })
  expect(loadConfig({ env: byEnvironment, cwd }).store).toEqual({ url, lease: 30, history: 63 * 86_400 })
  const both = folderWith({ 'callwatch.yaml': 'store: { url_file: ./url, path: x.db }', url })
  expect(problemsWhenLoading({ env: byEnvironment, cwd: both })).toBe(
    'callwatch.yaml:1:10: store.url_file: not accepted together with `store.path`; expected one of them: a database, or a file',
  )
})

test('CALLWATCH_API_KEY_FILE starts at the working directory', () => {
  const cwd = folderWith({
    'etc/callwatch.yaml': 'targets: [{ app_id: a1, region: us }]',
    key: 'k1',
    'etc/key': 'k2',
  })
  const config = loadConfig({ file: 'etc/callwatch.yaml', env: { CALLWATCH_API_KEY_FILE: 'key' }, cwd })
  expect(config.targets[0]?.apiKey).toBe('k1')
})

test('CALLWATCH_API_KEY and CALLWATCH_API_KEY_FILE together are refused', () => {
  const env = { ...byEnvironment, CALLWATCH_API_KEY_FILE: './key' }
  expect(problemsWhenLoading({ env, cwd: folderWith({ key: 'k' }) })).toBe(
    'CALLWATCH_API_KEY_FILE: not accepted together with `CALLWATCH_API_KEY`; expected one of them',
  )
})

test('an empty file is refused, and what is wrong in a file is not shown', () => {
  const cwd = folderWith({
    'callwatch.yaml':
      'targets: [{ app_id: a1, region: us, api_key_file: ./empty }]\nnotify: { slack: { webhook_url_file: ./hook } }\n',
    empty: ' \n',
    hook: 'hooks.slack.example/secret',
  })
  expect(problemsWhenLoading({ env: {}, cwd }).split('\n')).toEqual([
    'callwatch.yaml:1:37: targets[0].api_key_file: the file `./empty` is empty; expected a file that holds the secret',
    'callwatch.yaml:2:20: notify.slack.webhook_url_file: found a value (hidden, it may be secret); expected a valid https URL (plain http is accepted on loopback only)',
  ])
})
