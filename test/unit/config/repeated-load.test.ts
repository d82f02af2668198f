import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError } from '../../../src/config/config-error.ts'
import { repeatedLoad } from '../../../src/config/load-config.ts'
import { folderWith } from './folder-with.ts'

const YAML = 'targets: [{ app_id: a1, region: us, api_key_file: key }]'

/** A configuration that is loaded again and again from a folder. */
function loading(files: Record<string, string> = {}) {
  const cwd = folderWith({ 'callwatch.yaml': YAML, key: 'first', ...files })
  return { load: repeatedLoad({ env: {}, cwd }), at: (name: string) => join(cwd, name) }
}

test('while its files say the same it is the very same', () => {
  const { load, at } = loading()
  const config = load()
  expect(load()).toBe(config)
  // Written again, the same.
  writeFileSync(at('key'), 'first')
  expect(load()).toBe(config)
})

test.each([
  ['the file', 'callwatch.yaml', `${YAML}\nlog: { level: debug }`],
  ["a secret's file", 'key', 'second'],
])('a change of %s is read, also where it comes by renaming', (_what, name, content) => {
  const { load, at } = loading()
  const before = load()
  writeFileSync(at('next'), content)
  renameSync(at('next'), at(name))
  expect(load()).not.toEqual(before)
})

test('a file that goes away, and comes back, is noticed both times', () => {
  const { load, at } = loading()
  const before = load()
  rmSync(at('key'))
  expect(load).toThrow(ConfigError)
  expect(load).toThrow(ConfigError)
  writeFileSync(at('key'), 'first')
  expect(load()).toEqual(before)
})
