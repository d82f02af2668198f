import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { maskConfig } from '../../src/config/mask-config.ts'
import { secretsOf } from '../../src/config/secrets-of.ts'
import { folderWith } from './folder-with.ts'

const env = {
  CALLWATCH_API_KEY: 'first-secret',
  STAGING_API_KEY_FILE: 'staging-key',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.example/third-secret',
}

/** The shipped example, which has every key. */
function loadExample() {
  const example = readFileSync(join(import.meta.dirname, '../../config/callwatch.example.yaml'), 'utf8')
  const cwd = folderWith({ 'example.yaml': example, 'staging-key': 'second-secret\n' })
  return loadConfig({ file: 'example.yaml', env, cwd })
}

describe('the printed configuration', () => {
  test('shows no secret', () => {
    const printed = maskConfig(loadExample())
    expect(printed).not.toMatch(/secret/)
    expect(printed.match(/(api_key|webhook_url): "\*{8}"/g)).toHaveLength(3)
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
  max_requests_per_minute: 400
  baseline: skip
  details: missing
  status_map:
    cancelled: canceled
    missed: unanswered
    busy: rejected
store:
  path: data/callwatch.db
  history: 35d
http:
  host: 0.0.0.0
  port: 9464
notify:
  group_wait: 10s
alerts: []
log:
  level: info
`)
  })

  test('says the same when it is loaded again', () => {
    const config = loadExample()
    const secrets = ['first-secret', 'second-secret', 'https://hooks.slack.example/third-secret']
    const printed = maskConfig(config).replaceAll('"********"', () => secrets.shift() ?? 'one secret too many')
    expect(loadConfig({ env: {}, cwd: folderWith({ 'callwatch.yaml': printed }) })).toEqual(config)
  })
})

test('every secret is known, so that the log can leave it out', () => {
  expect(secretsOf(loadExample())).toEqual([
    'https://hooks.slack.example/third-secret',
    'second-secret',
    'first-secret',
  ])
})
