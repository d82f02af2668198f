import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { dashboard } from '../../config/grafana/dashboard.ts'
import { describeMetrics } from '../../src/metrics/registry.ts'
import { shippedRules } from '../alerts/sample-rules.ts'
import { panelsOf } from './panels-of.ts'

const panels = panelsOf(dashboard())

test('config/grafana/callwatch.json is the output of dashboard.ts; `npx vitest run test/prometheus -u` updates it', async () => {
  await expect(`${JSON.stringify(dashboard(), null, 2)}\n`).toMatchFileSnapshot('../../config/grafana/callwatch.json')
})

test('the dashboard queries every metric', () => {
  const queried = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).join('\n')
  const missing = describeMetrics().filter(
    ({ name }) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(queried),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the dashboard queries counters of calls by their recording rules, and only rules that exist', () => {
  const counted = describeMetrics().filter(({ durable, type }) => durable && type !== 'gauge')
  const queried = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))
  // The series of one daemon; the name of a recorded series has a colon before the metric.
  const own = counted.filter(({ name }) => queried.some((expr) => new RegExp(`(?<!:)\\b${name}`).test(expr)))
  expect(own.map(({ name }) => name)).toEqual([])
  const rules = parse(readFileSync('config/prometheus/callwatch-recording.yaml', 'utf8')).groups[0].rules
  const recorded = rules.map(({ record }: { record: string }) => record)
  const named = queried.flatMap((expr) => expr.match(/\btarget:\w+:\w+/g) ?? [])
  expect(named.length).toBeGreaterThan(counted.length)
  expect(named.filter((name) => !recorded.includes(name))).toEqual([])
})

test('every panel of the dashboard has a unique title and a description', () => {
  const shown = (dashboard().panels ?? []).filter(({ type }) => type !== 'row')
  const titles = shown.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(shown.filter((panel) => !('description' in panel && panel.description)).map(({ title }) => title)).toEqual([])
})

test('the panels of the dashboard do not overlap', () => {
  const places = (dashboard().panels ?? []).map(({ title, gridPos }) => ({ title, ...gridPos! }))
  for (const [i, a] of places.entries()) {
    expect(a.x + a.w, `${a.title} exceeds the width of the dashboard`).toBeLessThanOrEqual(24)
    for (const b of places.slice(i + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
      expect(apart, `${a.title} overlaps ${b.title}`).toBe(true)
    }
  }
})

test('the limits in the panels of the dashboard are the thresholds of the shipped rules', () => {
  const rules = new Map(shippedRules().map((rule) => [rule.name, rule]))
  const failures = [rules.get('HighFailureRate')?.threshold, rules.get('VeryHighFailureRate')?.threshold]
  const stuck = rules.get('StuckCalls')?.signal
  const limits: Record<string, (number | undefined)[]> = {
    'Failed, last 15 min': failures,
    'Failure ratio by reason, 15 min': failures,
    'Age of these numbers': [rules.get('NoGoodPoll')?.threshold],
    'Time since the last successful poll': [rules.get('NoGoodPoll')?.threshold],
    'Age of the oldest open call': [stuck?.name === 'stuck_calls' ? stuck.longerThan : undefined],
  }
  for (const [title, expected] of Object.entries(limits)) {
    const panel = (dashboard().panels ?? []).find((each) => each.title === title && each.type !== 'row')
    const steps = panel !== undefined && 'fieldConfig' in panel ? panel.fieldConfig?.defaults.thresholds?.steps : []
    expect(steps?.map(({ value }) => value).slice(-expected.length), title).toEqual(expected)
  }
})
