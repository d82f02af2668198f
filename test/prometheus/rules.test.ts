import { join } from 'node:path'
import { expect, test } from 'vitest'
import { promtool, skipWithoutPromtool } from './promtool.ts'
import { SHIPPED } from './prometheus-process.ts'

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

test.for<[what: string, file: string]>([
  [
    'the recording rules give one series per target, and count each call once across failovers',
    'recording-rules.test.yaml',
  ],
  ['the alerting rules fire the same across failovers, for unowned targets, and for webhooks', 'alert-rules.test.yaml'],
])('promtool test rules: %s', { timeout: 60_000 }, ([, file], context) => {
  skipWithoutPromtool(context)
  const { status, stdout, stderr } = promtool(['test', 'rules', join(import.meta.dirname, file)])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
