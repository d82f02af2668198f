import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { dashboard } from '../../config/grafana/dashboard.ts'
import { describeMetrics } from '../../src/metrics/registry.ts'
import { shippedRules } from '../parity/shipped-rules.ts'
import { panelsOf } from './panels-of.ts'

const panels = panelsOf(dashboard())

test('config/grafana/callwatch.json is what dashboard.ts makes; `npx vitest run test/prometheus -u` writes it anew', async () => {
  await expect(`${JSON.stringify(dashboard(), null, 2)}\n`).toMatchFileSnapshot('../../config/grafana/callwatch.json')
})

test('every metric of docs/metrics.md is on the dashboard', () => {
  const asked = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).join('\n')
  const untold = describeMetrics().filter(({ name }) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(asked))
  expect(untold.map(({ name }) => name)).toEqual([])
})

test('counters of calls are asked for as they are recorded of all daemons, and all that is asked for is recorded', () => {
  const counted = describeMetrics().filter(({ durable, type }) => durable && type !== 'gauge')
  const asked = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))
  // A daemon's own series; a recorded one has its colon before the name.
  const own = counted.filter(({ name }) => asked.some((expr) => new RegExp(`(?<!:)\\b${name}`).test(expr)))
  expect(own.map(({ name }) => name)).toEqual([])
  const rules = parse(readFileSync('config/prometheus/callwatch-recording.yaml', 'utf8')).groups[0].rules
  const recorded = rules.map(({ record }: { record: string }) => record)
  const named = asked.flatMap((expr) => expr.match(/\btarget:\w+:\w+/g) ?? [])
  expect(named.length).toBeGreaterThan(counted.length)
  expect(named.filter((name) => !recorded.includes(name))).toEqual([])
})

test('every panel has a title of its own and says what it shows', () => {
  const shown = (dashboard().panels ?? []).filter(({ type }) => type !== 'row')
  const titles = shown.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(shown.filter((panel) => !('description' in panel && panel.description)).map(({ title }) => title)).toEqual([])
})

test('panels lie side by side, none over another', () => {
  const places = (dashboard().panels ?? []).map(({ title, gridPos }) => ({ title, ...gridPos! }))
  for (const [i, a] of places.entries()) {
    expect(a.x + a.w, `${a.title} is wider than the page`).toBeLessThanOrEqual(24)
    for (const b of places.slice(i + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
      expect(apart, `${a.title} lies over ${b.title}`).toBe(true)
    }
  }
})

test('the limits that are drawn are those of the shipped rules', () => {
  const rules = new Map(shippedRules().map((rule) => [rule.name, rule]))
  const failures = [rules.get('HighFailureRate')?.threshold, rules.get('VeryHighFailureRate')?.threshold]
  const stuck = rules.get('StuckCalls')?.signal
  const limits: Record<string, (number | undefined)[]> = {
    'Failed, last 15 min': failures,
    'Failure ratio by reason, 15 min': failures,
    'Age of these numbers': [rules.get('NoGoodPoll')?.threshold],
    'Time since the last good look': [rules.get('NoGoodPoll')?.threshold],
    'Age of the oldest open call': [stuck?.name === 'stuck_calls' ? stuck.longerThan : undefined],
  }
  for (const [title, expected] of Object.entries(limits)) {
    const panel = (dashboard().panels ?? []).find((each) => each.title === title && each.type !== 'row')
    const drawn = panel !== undefined && 'fieldConfig' in panel ? panel.fieldConfig?.defaults.thresholds?.steps : []
    expect(drawn?.map(({ value }) => value).slice(-expected.length), title).toEqual(expected)
  }
})
