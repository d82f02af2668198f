import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { needsRestart, withoutRestart } from '../../../src/daemon/fixed-settings.ts'
import { folderWith } from './folder-with.ts'

const env = { CALLWATCH_APP_ID: 'a', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' }
const withStore = (store: string) => loadConfig({ env, cwd: folderWith({ 'callwatch.yaml': `store: ${store}` }) })

test.each([
  ['{ path: a.db }', '{ path: b.db }', ['store.path']],
  ['{ path: a.db }', '{ url: "postgres://db/callwatch" }', ['store.path', 'store.url', 'store.lease']],
  ['{ url: "postgres://db/callwatch" }', '{ url: "postgres://db2/callwatch" }', ['store.url']],
  ['{ url: "postgres://db/callwatch" }', '{ url: "postgres://db/other" }', ['store.url']],
  ['{ url: "postgres://a:b@db/callwatch" }', '{ url: "postgres://c:d@db:5432/callwatch?sslmode=require" }', []],
  ['{ url: "postgres://db/callwatch" }', '{ url: "postgres://db/callwatch?foo=1" }', ['store.url']],
  ['{ url: "postgres://db/callwatch" }', '{ url: "postgres://db/callwatch", lease: 5s }', ['store.lease']],
  ['{ url: "postgres://db/callwatch" }', '{ url: "postgres://db/callwatch", history: 40d }', []],
])('from a store %s to %s', (before, after, expected) => {
  expect(needsRestart(withStore(before), withStore(after)).map(({ path }) => path)).toEqual(expected)
})

test.each([
  ['a new login of the database is taken', 'postgres://c:d@db/callwatch', 'postgres://c:d@db/callwatch'],
  ['another database is not', 'postgres://c:d@db/other', 'postgres://a:b@db/callwatch'],
])('beside what needs a restart, %s', (_what, url, expected) => {
  const before = withStore('{ url: "postgres://a:b@db/callwatch", lease: 10s }')
  const after = withStore(`{ url: "${url}", lease: 5s, history: 40d }`)
  expect(withoutRestart(before, after).store).toEqual({ url: expected, lease: 10, history: 40 * 86_400 })
})
