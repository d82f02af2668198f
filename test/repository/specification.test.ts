import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/development/specification.md'), 'utf8')
const TEST = /\]\(\.\.\/\.\.\/(test\/[\w/-]+\.test\.ts)\)/g
const rows = [...PAGE.matchAll(/^\| (?!Rule )(.+) \| (.+) \|$/gm)].map(([, rule = '', tests = '']) => ({ rule, tests }))

test('each rule of the specification names a test that exists', () => {
  const isTest = new Set(globSync('test/**/*.test.ts', { cwd: ROOT }))
  const named = rows.map(({ rule, tests }) => ({ rule, tests: [...tests.matchAll(TEST)].map(([, file = '']) => file) }))
  expect(named.filter(({ tests }) => tests.length === 0 || !tests.every((file) => isTest.has(file)))).toEqual([])
  expect(named.length).toBeGreaterThan(50)
})

test('each test of polling and of the ledger is named by a rule of the specification', () => {
  const named = new Set([...PAGE.matchAll(TEST)].map(([, file]) => file))
  const tests = globSync('test/unit/{polling,ledger}/*.test.ts', { cwd: ROOT })
  expect(tests.length).toBeGreaterThan(50)
  expect(tests.filter((file) => !named.has(file))).toEqual([])
})
