import { join } from 'node:path'
import { expect, test } from 'vitest'
import { promtool, skipWithoutPromtool } from './promtool.ts'
import { SHIPPED } from './watched-by-prometheus.ts'

test.for<[what: string, args: string[]]>([
  ['the scrape configuration, and the rules that it names,', ['check', 'config', join(SHIPPED, 'prometheus.yaml')]],
  ['the recording rules', ['check', 'rules', join(SHIPPED, 'callwatch-recording.yaml')]],
  ['the alerting rules', ['check', 'rules', join(SHIPPED, 'callwatch-alerts.yaml')]],
])('promtool finds nothing wrong with %s of config/prometheus', ([, args], context) => {
  skipWithoutPromtool(context)
  const { status, stdout, stderr } = promtool(args)
  expect(stderr).toBe('')
  expect(stdout).toContain('SUCCESS')
  expect(status).toBe(0)
})

test.for<[what: string, file: string]>([
  [
    'the recording rules give one series of each target, which loses and doubles nothing where the target moves',
    'recording-rules.test.yaml',
  ],
  ['the alerting rules say the same wherever a target is watched, and that nobody watches it', 'alert-rules.test.yaml'],
])('%s', { timeout: 60_000 }, ([, file], context) => {
  skipWithoutPromtool(context)
  const { status, stdout, stderr } = promtool(['test', 'rules', join(import.meta.dirname, file)])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
