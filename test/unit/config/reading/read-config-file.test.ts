import { expect, test } from 'vitest'
import { loadConfig } from '../../../../src/config/load-config.ts'
import { folderWith } from '../folder-with.ts'
import { problemsWhenLoading } from '../problems-when-loading.ts'

const target = (name: string) => `targets: [{ name: ${name}, app_id: a1, region: us, api_key: k }]\n`
const byEnvironment = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'secret-key' }

const files = { 'callwatch.yaml': target('by-default'), 'a.yaml': target('a'), 'etc/b.yaml': target('b') }
const nameOf = (options: { file?: string; env?: Record<string, string> }) =>
  loadConfig({ env: {}, ...options, cwd: folderWith(files) }).targets[0]?.name

test('./callwatch.yaml if nothing is named', () => expect(nameOf({})).toBe('by-default'))

test('the one that CALLWATCH_CONFIG names', () => {
  expect(nameOf({ env: { CALLWATCH_CONFIG: 'etc/b.yaml' } })).toBe('b')
})

test('the one that --config names, before CALLWATCH_CONFIG', () => {
  expect(nameOf({ file: 'a.yaml', env: { CALLWATCH_CONFIG: 'etc/b.yaml' } })).toBe('a')
})

test('a named file that is not there is a problem of the option or variable that named it', () => {
  const cwd = folderWith({ 'callwatch.yaml': target('by-default') })
  expect(problemsWhenLoading({ file: 'no.yaml', env: {}, cwd })).toBe(
    '--config: the file `no.yaml` does not exist; expected a configuration file in YAML',
  )
  expect(problemsWhenLoading({ env: { CALLWATCH_CONFIG: '.' }, cwd })).toBe(
    'CALLWATCH_CONFIG: the file `.` is a folder; expected a configuration file in YAML',
  )
})

test('a ./callwatch.yaml that cannot be read is not passed over', () => {
  const cwd = folderWith({ 'callwatch.yaml/inside': '' })
  expect(problemsWhenLoading({ env: byEnvironment, cwd })).toMatch(/^callwatch.yaml: .* is a folder/)
})

test('an empty file leaves everything to the environment', () => {
  const cwd = folderWith({ 'callwatch.yaml': '# nothing\n' })
  expect(loadConfig({ env: byEnvironment, cwd }).targets[0]?.name).toBe('a1')
})
