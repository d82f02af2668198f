import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TRIGGERS } from '../../src/ledger/hint.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const PAGES = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
/** Generated from the code. */
const GENERATED = ['docs/configuration.md', 'docs/metrics.md']

const known = [...GENERATED, 'docs/contract.txt'].map(read).join('\n')
const words = new Set(known.match(/\w+/g))
/** Each key with those above it, such as `notify.receivers` and `notify`. */
const keys = new Set(
  Array.from(read('docs/configuration.md').matchAll(/^- `([\w.[\]]+)(.*)/gm), ([, name = '', meaning = '']) => {
    const key = name.replaceAll('[]', '')
    return meaning.includes('a secret') ? [key, `${key}_file`] : [key]
  })
    .flat()
    .flatMap((name) => name.split('.').map((_part, i, parts) => parts.slice(0, i + 1).join('.'))),
)
const sections = [...new Set(Array.from(read('docs/configuration.md').matchAll(/^- `(\w+)\b/gm), ([, name]) => name))]

/** Names of other programs, of the simulator, of the dashboard and of the service's webhooks. */
const FOREIGN = [
  ...Object.keys(TRIGGERS),
  'auth_basic',
  'bare_list',
  'callwatch_url',
  'http_500',
  'missing_scope',
  'not_in_channel',
  'recorded_minutes',
  'idle_in_transaction_session_timeout',
  'pg_dump',
  'pg_restore',
  'search_path',
  'statement_timeout',
  'synchronous_commit',
  'synchronous_standby_names',
  'target_session_attrs',
]

/** What a page calls by name in text and in commands, with the page. */
const named = (pattern: RegExp) =>
  PAGES.filter((page) => !GENERATED.includes(page)).flatMap((page) =>
    [...read(page).matchAll(/`([^`\n]+)`|^```(?:sh|promql)\n(.*?)^```/gms)].flatMap(([, code = '', block = '']) =>
      ((code + block).match(pattern) ?? []).map((name) => ({ page, name })),
    ),
  )

test('pages name only keys of the configuration that exist', () => {
  const names = named(
    new RegExp(`(?<![\\w./-])(?:${sections.join('|')})\\.[a-z_]+(?:\\.[a-z_]+)*(?![\\w/])`, 'g'),
  ).filter(({ name }) => !/\.(?:md|ts|json|yaml)$/.test(name))
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter(({ name }) => !keys.has(name))).toEqual([])
})

test('pages name only metrics, fields, labels and columns that exist', () => {
  const names = named(/(?<![\w/.-])[a-z]+(?:_[a-z0-9]+)+(?![\w/])/g)
  expect(names.length).toBeGreaterThan(120)
  expect(names.filter(({ name }) => !words.has(name) && !FOREIGN.includes(name))).toEqual([])
})

test('pages name only paths of HTTP that exist', () => {
  const paths = named(/(?<![\w.])\/(?:api\/v1\/[\w/.]+|metrics\b|healthz\b|readyz\b)(?!\w)/g)
  expect(paths.length).toBeGreaterThan(25)
  // TARGET and ID stand for a part of the path.
  const pattern = (name: string) => name.replace(/[./]+$/, '').replaceAll(/\/[A-Z_]+/g, '/{}')
  const routes = known.replaceAll(/\/\{\w+\}/g, '/{}')
  expect(paths.filter(({ name }) => !routes.includes(pattern(name)))).toEqual([])
})

test('pages name only variables of the environment that exist', () => {
  const variables = named(/\bCALLWATCH_[A-Z_]+[A-Z]\b/g)
  expect(variables.length).toBeGreaterThan(10)
  const code = globSync('{src/**/*.ts,config/**/*,compose.yaml}', { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
  expect(variables.filter(({ name }) => !known.includes(name) && !code.includes(name))).toEqual([])
})
