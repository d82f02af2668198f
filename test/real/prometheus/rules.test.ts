import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { defaultRules } from '../../../src/alerts/default-rules.ts'
import { promtool, skipWithoutPromtool } from '../../kit/promtool.ts'
import { SHIPPED } from '../../kit/prometheus/prometheus-process.ts'

test.for<[what: string, args: string[]]>([
  ['the scrape configuration and its rule files', ['check', 'config', join(SHIPPED, 'prometheus.yaml')]],
  ['the recording rules', ['check', 'rules', join(SHIPPED, 'callwatch-recording.yaml')]],
  ['the alerting rules', ['check', 'rules', join(SHIPPED, 'callwatch-alerts.yaml')]],
])('promtool accepts %s in config/prometheus', ([, args], context) => {
  skipWithoutPromtool(context)
  const { status, stdout, stderr } = promtool(args)
  expect(stderr).toBe('')
  expect(stdout).toContain('SUCCESS')
  expect(status).toBe(0)
})

test('each shipped rule has its alert, and the rule of all others leaves them out', () => {
  const { groups } = parse(readFileSync(join(SHIPPED, 'callwatch-alerts.yaml'), 'utf8'))
  const rules: { alert?: string; expr: string }[] = groups.flatMap((group: { rules: object[] }) => group.rules)
  const names = defaultRules.map(({ name }) => name)
  const alerts = rules.flatMap(({ alert }) => alert ?? [])
  expect(alerts).toEqual(expect.arrayContaining(names.map((name) => `Callwatch${name}`)))
  const [, others = ''] = /alert!~"(.*?)"/.exec(rules.find(({ alert }) => alert === 'CallwatchRule')!.expr)!
  expect(others.split('|').toSorted()).toEqual(names.toSorted())
  const passedOn = rules.flatMap(({ expr }) => /last\{alert="(.*?)"\}/.exec(expr)?.[1] ?? [])
  expect(passedOn.toSorted()).toEqual(names.filter((name) => name !== 'NoGoodPoll').toSorted())
})

test.for<[what: string, file: string]>([
  [
    'the recording rules give one series per target, and count each call once across failovers',
    'recording-rules.test.yaml',
  ],
  ['the alerting rules pass on what daemons say, and what none can say of itself', 'alert-rules.test.yaml'],
  ['the alerting rules pass on what a daemon said that died a day ago', 'alert-rules-of-a-day.test.yaml'],
])('promtool test rules: %s', { timeout: 60_000 }, ([, file], context) => {
  skipWithoutPromtool(context)
  const { status, stdout, stderr } = promtool(['test', 'rules', join(import.meta.dirname, file)])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
