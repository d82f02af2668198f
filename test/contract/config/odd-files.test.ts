import { execFileSync, spawn } from 'node:child_process'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig, repeatedLoad } from '../../../src/config/load-config.ts'
import { folderWith } from '../../unit/config/folder-with.ts'
import { problemsWhenLoading } from '../../unit/config/problems-when-loading.ts'

const target = (key: string) => `targets: [{ name: a, app_id: a1, region: us, ${key} }]\n`

/** A folder with these files, and a pipe to which nothing is written. */
function folder(files: Record<string, string>) {
  const cwd = folderWith(files)
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  return cwd
}

test.each([
  ['pipe', 'the file `./pipe` is a pipe or a device and no file; expected a file that holds the secret'],
  ['zero', 'the file `./zero` is a pipe or a device and no file; expected a file that holds the secret'],
  ['large', 'the file `./large` is larger than 1 MB; expected a file that holds the secret'],
])("a secret's file that is a %s is refused at once", (name, problem) => {
  const cwd = folder({ 'callwatch.yaml': target(`api_key_file: ./${name}`), large: 'x'.repeat(1_000_001) })
  execFileSync('ln', ['-s', '/dev/zero', join(cwd, 'zero')])
  expect(problemsWhenLoading({ env: {}, cwd })).toContain(problem)
})

test('a configuration of more than a megabyte is refused', () => {
  const cwd = folder({ large: `${target('api_key: k')}${'#'.repeat(1_000_000)}` })
  expect(problemsWhenLoading({ file: 'large', env: {}, cwd })).toBe(
    '--config: the file `large` is larger than 1 MB; expected a configuration file in YAML',
  )
})

test('a configuration of a megabyte less a byte is read', () => {
  const text = target('api_key: k')
  const cwd = folder({ 'callwatch.yaml': text + '#'.repeat(999_999 - text.length) })
  expect(loadConfig({ env: {}, cwd }).targets[0]?.name).toBe('a')
})

test('a configuration that is a pipe is read once, and its secrets as often as they change', () => {
  const cwd = folder({ key: 'first' })
  const writer = spawn('sh', ['-c', `cat > pipe <<'END'\n${target('api_key_file: key')}END\n`], {
    cwd,
    stdio: 'ignore',
  })
  onTestFinished(() => void writer.kill())
  const load = repeatedLoad({ file: 'pipe', env: {}, cwd })
  expect(load().targets[0]?.apiKey).toBe('first')
  expect(load().targets[0]?.apiKey).toBe('first')
  writeFileSync(join(cwd, 'key'), 'second')
  expect(load().targets[0]?.apiKey).toBe('second')
})

test('a configuration that becomes a pipe while it is watched is refused at once', () => {
  const cwd = folder({ 'callwatch.yaml': target('api_key: k') })
  const load = repeatedLoad({ env: {}, cwd })
  load()
  rmSync(join(cwd, 'callwatch.yaml'))
  renameSync(join(cwd, 'pipe'), join(cwd, 'callwatch.yaml'))
  const begun = performance.now()
  const message: unknown = expect.stringContaining('is a pipe or a device and no file')
  expect(load).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ message })] }))
  expect(performance.now() - begun).toBeLessThan(2000)
})
