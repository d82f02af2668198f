import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { secretsOf } from '../../../src/config/secrets.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { folderWith } from './folder-with.ts'

const env = {
  CALLWATCH_API_KEY: 'first-secret',
  STAGING_API_KEY_FILE: 'staging-key',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.example/fourth-secret',
  CALLWATCH_PASSWORD: 'third-secret',
  CALLWATCH_HOOK_PASSWORD: 'eleventh-secret',
  WEBHOOK_TOKEN: 'sixth-secret',
  SMTP_PASSWORD: 'eighth-secret',
  ON_CALL_WEBHOOK_URL: 'https://hooks.slack.example/ninth-secret',
}

/** All secrets of the shipped example, in its order. */
const secrets = [
  'first-secret',
  'eleventh-secret',
  'second-secret',
  'third-secret',
  'https://hooks.slack.example/fourth-secret',
  'calls-team',
  'https://hooks.example/fifth-secret',
  'Bearer sixth-secret',
  'eighth-secret',
  'https://ping.example/seventh-secret',
  'https://hooks.slack.example/ninth-secret',
  'http://127.0.0.1:8000/tenth-secret',
]

/** The shipped example, which has every key. */
function loadExample() {
  const example = readFileSync(join(import.meta.dirname, '../../../config/callwatch.example.yaml'), 'utf8')
  const secret = example
    .replace('https://hooks.example/callwatch', 'https://hooks.example/fifth-secret')
    .replace('https://ping.example/callwatch', 'https://ping.example/seventh-secret')
    .replace('http://127.0.0.1:8000/callwatch', 'http://127.0.0.1:8000/tenth-secret')
  const cwd = folderWith({ 'example.yaml': secret, 'staging-key': 'second-secret\n' })
  return loadConfig({ file: 'example.yaml', env, cwd })
}

describe('the printed configuration', () => {
  test('shows no secret', () => {
    const printed = maskConfig(loadExample())
    expect(printed).not.toMatch(/secret/)
    const masked = printed.matchAll(/(\w+): "\*{8}"/g).map(([, key]) => key)
    expect([...masked]).toEqual([
      'api_key',
      'password',
      'api_key',
      'password',
      'webhook_url',
      'OrgID',
      'url',
      'authorization',
      'password',
      'url',
      'webhook_url',
      'url',
    ])
  })

  test('is a file in snake_case, with durations as people write them', () => {
    const env = { CALLWATCH_BASE_URL: 'http://localhost:1/v3', CALLWATCH_API_KEY: 'k', CALLWATCH_POLL_INTERVAL: '90s' }
    const config = loadConfig({ env, cwd: folderWith({ 'callwatch.yaml': 'alerts: []' }) })
    expect(maskConfig(config)).toBe(`targets:
  - name: localhost:1
    base_url: http://localhost:1/v3
    api_key: "********"
    query: {}
poll:
  interval: 90s
  page_size: 100
  timeout: 10s
  retries: 4
  lookback: 1d
  sweep_interval: 15m
  max_requests_per_minute: 200
  baseline: count
  details: missing
  status_map:
    cancelled: canceled
    missed: unanswered
    busy: rejected
store:
  path: data/callwatch.db
  history: 63d
http:
  host: 127.0.0.1
  port: 9464
notify:
  group_by:
    - alert
    - severity
  group_interval: 5m
  receivers: []
  reports: []
  routes: []
  inhibit: []
  mutes: []
alerts: []
events:
  retention: 7d
  participants: false
  webhooks: []
log:
  level: info
`)
  })

  test('says the same when it is loaded again', () => {
    const config = loadExample()
    const left = [...secrets]
    const printed = maskConfig(config).replaceAll('"********"', () => left.shift() ?? 'one secret too many')
    expect(loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': printed }) })).toEqual(config)
  })
})

describe('the address of a shared store', () => {
  const url = 'postgres://call%20watch:p%40ss-secret@db1:5432,db2,[::1]/callwatch?sslmode=require'
  const config = (address: string) =>
    loadConfig({
      env: { CALLWATCH_APP_ID: 'a', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k', CALLWATCH_STORE_URL: address },
      cwd: folderWith({}),
    })

  test('is printed without its password, and with all the rest', () => {
    expect(maskConfig(config(url))).toContain(
      'url: postgres://call%20watch:********@db1:5432,db2,[::1]/callwatch?sslmode=require\n  lease: 10s\n',
    )
    expect(maskConfig(config('postgres://me@db/callwatch'))).toContain('url: postgres://me@db/callwatch\n')
  })

  test('has a password that is known as it stands there and as it is meant', () => {
    expect(secretsOf(config(url))).toEqual(['p%40ss-secret', 'p@ss-secret', 'k'])
    expect(secretsOf(config('postgres://me@db/callwatch'))).toEqual(['k'])
  })
})

test('every secret is known, so that the log can leave it out', () => {
  expect(secretsOf(loadExample())).toEqual(secrets.toSorted((a, b) => b.length - a.length))
})
