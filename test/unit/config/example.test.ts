import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { configSchema } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { signals } from '../../../src/alerts/signals.ts'
import { SECRET } from '../../kit/events/webhooks/any-webhook.ts'
import { folderWith } from './folder-with.ts'

const source = readFileSync(join(import.meta.dirname, '../../../config/callwatch.example.yaml'), 'utf8')
const env = {
  CALLWATCH_API_KEY: 'k1',
  STAGING_API_KEY_FILE: 'key',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.example/x',
  CALLWATCH_PASSWORD: 'p',
  CALLWATCH_HOOK_PASSWORD: 'p3',
  ON_CALL_WEBHOOK_URL: 'https://hooks.slack.example/on-call',
  WEBHOOK_TOKEN: 't',
  SMTP_PASSWORD: 'p2',
  CRM_WEBHOOK_SECRET: SECRET,
  CRM_OLD_SECRET: SECRET,
}

test('the shipped example loads, and but for targets, password and channels it says what holds anyway', () => {
  const example = loadExample(source)
  const defaults = loadConfig({
    env: { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' },
    cwd: folderWith({}),
  })
  expect(example.targets.map(({ name, apiKey }) => [name, apiKey])).toEqual([
    ['production', 'k1'],
    ['staging', 'k2'],
  ])
  const { groupBy, groupWait, groupInterval, ...channels } = example.notify
  expect(Object.keys(channels).toSorted()).toEqual(['inhibit', 'mutes', 'receivers', 'reports', 'routes', 'timezone'])
  const own = channels.receivers.filter(({ name, type }) => name === type)
  expect(own.map(({ name }) => name)).toEqual(['slack', 'alertmanager', 'webhook', 'email', 'heartbeat'])
  const { auth, publicUrl, ...http } = example.http
  expect(http.host).toBe('::')
  expect(publicUrl).toBe('https://callwatch.example')
  expect(auth?.username).toBe('ops')
  const notify = { ...defaults.notify, groupBy, groupWait, groupInterval }
  expect({ ...example, http: { ...http, host: '127.0.0.1' }, notify, targets: defaults.targets }).toEqual(defaults)
})

test('without its comment signs the shipped example has a rule for each signal, and a webhook of events', () => {
  const commented = /^ {2}# (?=- name:|webhooks:| {2})/gm
  const { alerts, events } = loadExample(source.replaceAll(commented, '  '))
  expect(alerts).toHaveLength(loadExample(source).alerts.length + 9)
  expect([...new Set(alerts.map(({ signal }) => signal.name))].toSorted()).toEqual(
    signals.map(({ name }) => name).toSorted(),
  )
  expect(events.webhooks.map(({ name }) => name)).toEqual(['crm'])
})

function loadExample(text: string) {
  return loadConfig({ file: 'example.yaml', env, cwd: folderWith({ 'example.yaml': text, key: 'k2' }) })
}

test('the shipped example is never loaded unless named', () => {
  const cwd = folderWith({ 'config/callwatch.example.yaml': source, 'callwatch.example.yaml': source, key: 'k2' })
  expect(() => loadConfig({ env, cwd })).toThrow(/problem/)
})

test('the shipped example shows every key', () => {
  const missing = keysOf(z.toJSONSchema(configSchema, { io: 'input' })).filter(
    ({ key }) => !new RegExp(`\\b${key}\\b`).test(source),
  )
  expect(missing).toEqual([])
})

test('every key says in the schema what it is for', () => {
  const keys = keysOf(z.toJSONSchema(configSchema, { io: 'input' }))
  expect(keys.length).toBeGreaterThan(140)
  expect(keys.filter(({ described }) => !described)).toEqual([])
})

/** The keys of every map in a JSON Schema. */
function keysOf(schema: z.core.JSONSchema._JSONSchema): { key: string; described: boolean }[] {
  if (typeof schema === 'boolean') return []
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => [
    { key, described: typeof value === 'object' && value.description !== undefined },
    ...keysOf(value),
  ])
  const items = [schema.items ?? []].flat()
  const inner = [...items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [...own, ...inner.flatMap(keysOf)]
}
