import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { configJsonSchema } from '../../kit/config/config-json-schema.ts'
import { parseYaml } from '../../../src/config/reading/parse-yaml.ts'
import { valueAt } from '../../../src/schema/path.ts'

const SCHEMA = join(import.meta.dirname, '../../../config/callwatch.schema.json')
const EXAMPLE = join(import.meta.dirname, '../../../config/callwatch.example.yaml')

test('config/callwatch.schema.json is that of the schema; `npx vitest run test/unit/config -u` refreshes it', async () => {
  await expect(`${JSON.stringify(configJsonSchema(), undefined, 2)}\n`).toMatchFileSnapshot(SCHEMA)
})

// Every keyword must be one that the standard knows.
const accepts = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(configJsonSchema())
const problemsOf = (yaml: string) => {
  accepts(parseYaml(yaml, 'callwatch.yaml').content ?? {})
  return (accepts.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('the JSON Schema accepts', () => {
  const example = readFileSync(EXAMPLE, 'utf8')

  test('the shipped example, whose first line leads an editor to it', () => {
    expect(example.split('\n')[0]).toBe('# yaml-language-server: $schema=callwatch.schema.json')
    expect(problemsOf(example)).toEqual([])
  })

  test('the shipped example without its comment signs', () => {
    expect(problemsOf(example.replaceAll(/^ {2}# (?=- name:| {2}|tls:|webhooks:)/gm, '  '))).toEqual([])
  })

  test.each([
    ['nothing, where the environment says it all', ''],
    [
      'what the environment is to say',
      'http: { port: ${PORT} }\npoll: { interval: ${I}, baseline: ${B}, retries: ${R} }',
    ],
    ['numbers as texts, and 0 where it means off', "poll: { retries: '3' }\nnotify: { group_wait: 0 }"],
    ['secrets in files', 'targets: [{ app_id: a, region: us, api_key_file: k }]\nnotify: { webhook: { url_file: u } }'],
    ['a threshold in seconds and as a duration', 'alerts: [{ name: a, signal: poll_age, above: 90, clear: 1m }]'],
    ['certificates', 'http: { tls: { cert_file: a, key_file: b } }'],
  ])('%s', (_what, yaml) => {
    expect(problemsOf(yaml)).toEqual([])
  })
})

describe('the JSON Schema refuses', () => {
  test.each([
    ['a mistyped key', 'pol: {}'],
    ['a mistyped key deep down', 'notify: { slack: { webhook: https://x.test } }'],
    ['a list instead of a map', 'poll: []'],
    ['a duration without its unit', 'poll: { interval: 15 }'],
    ['a duration of nothing', 'poll: { interval: 0 }'],
    ['an unknown region', 'targets: [{ app_id: a, region: moon, api_key: k }]'],
    ['a port that is none', 'http: { port: 70000 }'],
    ['half a page', 'poll: { page_size: 1.5 }'],
    ['an address without its scheme', 'notify: { webhook: { url: hooks.test } }'],
    ['an unknown signal', 'alerts: [{ name: a, signal: moods, above: 1 }]'],
    ['a key of another signal', 'alerts: [{ name: a, signal: poll_age, above: 5m, min_calls: 3 }]'],
    ['a certificate without its key', 'http: { tls: { cert_file: a } }'],
    ['a label twice', 'alerts: [{ name: a, signal: calls_finished, above: 1, by: [type, type] }]'],
  ])('%s', (_what, yaml) => {
    expect(problemsOf(yaml)).not.toEqual([])
  })

  // The rest takes several keys, another file or the machine to see.
  test('about half of what loading refuses', () => {
    const folder = join(import.meta.dirname, './invalid')
    const files = readdirSync(folder)
    const refused = files.filter((name) => {
      try {
        return problemsOf(readFileSync(join(folder, name), 'utf8')).length > 0
      } catch {
        return true
      }
    })
    expect(refused.length / files.length).toBeGreaterThan(0.45)
  })
})

test('durations and secrets have examples for editors', () => {
  const schema = configJsonSchema()
  const interval = ['properties', 'poll', 'properties', 'interval', 'anyOf', 0]
  expect(valueAt(schema, [...interval, 'anyOf', 0])).toMatchObject({ pattern: expect.stringContaining('ms|s|m|h|d') })
  expect(valueAt(schema, ['properties', 'poll', 'properties', 'interval', 'examples'])).toContain('15s')
  const key = valueAt(schema, ['properties', 'targets', 'items', 'properties', 'api_key'])
  expect(key).toMatchObject({ writeOnly: true, examples: ['${CALLWATCH_API_KEY}'] })
})
