import { expect, test } from 'vitest'
import { dashboard } from '../../../config/grafana/dashboard.ts'
import { shippedRules } from '../../kit/alerts/sample-rules.ts'
import { describeMetrics } from '../../../config/grafana/describe-metrics.ts'
import { everyPanelOf, interpolate, panelsOf } from '../../kit/prometheus/panels-of.ts'

const panels = panelsOf(dashboard())

test('config/grafana/callwatch.json is the output of dashboard.ts; `npx vitest run test/contract/prometheus -u` updates it', async () => {
  await expect(`${JSON.stringify(dashboard(), null, 2)}\n`).toMatchFileSnapshot(
    '../../../config/grafana/callwatch.json',
  )
})

test('the dashboard queries every metric', () => {
  const queried = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).join('\n')
  const missing = describeMetrics().filter(
    ({ name }) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(queried),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the dashboard queries metrics of targets as one series per target, without recording rules', () => {
  const exprs = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))
  expect(exprs.filter((expr) => /\w:\w+:\w/.test(expr))).toEqual([])
  const counted = describeMetrics().filter(({ durable, type }) => durable && type !== 'gauge')
  // The series of each daemon by itself.
  const own = counted.filter(({ name, labels }) =>
    exprs.some((expr) =>
      [...expr.matchAll(new RegExp(`(max by \\((.*?)\\) \\()?\\b${name}(_bucket|_sum|_count)?\\{`, 'g'))].some(
        ([, max, by = '', part]) =>
          max === undefined || by !== [...labels, ...(part === '_bucket' ? ['le'] : [])].join(', '),
      ),
    ),
  )
  expect(own.map(({ name }) => name)).toEqual([])
})

test('every metric with types, modes or receiver types is queried by those that the user selects', () => {
  const exprs = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))
  // A rule has values and alerts of all calls that it matches, whichever the user selects.
  const ofRules = ['value', 'expected', 'threshold'].map((of) => `callwatch_rule_${of}`).concat('callwatch_alert_state')
  for (const { name, labels } of describeMetrics().filter((metric) => !ofRules.includes(metric.name))) {
    const selectors = exprs.flatMap(
      (expr) => expr.match(new RegExp(`\\b${name}(_bucket|_sum|_count)?\\{[^}]*\\}`, 'g')) ?? [],
    )
    for (const label of ['type', 'mode', 'receiver_type']) {
      for (const selector of selectors) expect(selector.includes(`${label}=~"$${label}"`)).toBe(labels.includes(label))
    }
  }
  const variables = new Map((dashboard().templating.list ?? []).map((variable) => [variable.name, variable]))
  expect(variables.get('type')?.query).toBe('audio,video,other')
  expect(variables.get('mode')?.query).toBe('call,meet,presenter,other')
  expect(variables.get('receiver_type')?.query).toBe('user,group,other')
  for (const label of ['type', 'mode', 'receiver_type']) {
    expect(variables.get(label)).toMatchObject({ multi: true, includeAll: true, allValue: '.+' })
  }
})

test('only the first row is open, and the others hold their panels', () => {
  const { panels: top = [] } = dashboard()
  const rows = top.filter(({ type }) => type === 'row')
  expect(rows.map((row) => 'collapsed' in row && row.collapsed)).toEqual(rows.map((_row, index) => index > 0))
  for (const [index, row] of rows.entries()) expect('panels' in row && row.panels.length > 0).toBe(index > 0)
  expect(top.indexOf(rows[1]!) - top.indexOf(rows[0]!)).toBe(7)
  expect(top.slice(top.indexOf(rows[1]!))).toEqual(rows.slice(1))
  const ids = everyPanelOf(dashboard()).map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('panels link to the calls explorer of the page by labels that their series have', () => {
  const linked = everyPanelOf(dashboard()).flatMap((panel) => {
    const links = ('fieldConfig' in panel && panel.fieldConfig?.defaults.links) || []
    return links.map(({ url = '' }) => ({ title: panel.title, url }))
  })
  expect(linked.length).toBeGreaterThan(5)
  for (const { title, url } of linked) {
    expect(url, title).toMatch(
      /^\$\{callwatch_url:raw\}\/\?[^?#]+&since=\$\{__from:date:iso\}&until=\$\{__to:date:iso\}#calls$/,
    )
    const legends = panels.find((panel) => panel.title === title)!.queries.map(({ legend }) => legend)
    const filters = [...url.matchAll(/[?&](\w+)=\$\{__field\.labels\.(\w+):percentencode\}/g)]
    expect(filters.length, title).toBeGreaterThan(0)
    for (const [, filter, label] of filters) {
      expect(['target', 'type', 'mode', 'receiver_type', 'status']).toContain(filter)
      for (const legend of legends) expect(legend, title).toContain(`{{${label}}}`)
    }
  }
  const page = dashboard().templating.list?.find(({ name }) => name === 'callwatch_url')
  expect(page).toMatchObject({ type: 'textbox', query: 'http://localhost:9464' })
})

test('firing alerts are annotations, with a link to the charts of the page', () => {
  const { list = [] } = dashboard().annotations
  expect(list).toHaveLength(1)
  const { enable, expr = '', titleFormat, textFormat = '', tagKeys = '' } = list[0]!
  expect({ enable, titleFormat }).toEqual({ enable: true, titleFormat: '{{alert}}' })
  const labels = describeMetrics().find(({ name }) => name === 'callwatch_alerts')!.labels
  for (const label of ['alert', 'target', 'severity']) {
    expect(labels).toContain(label)
    expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`))
    expect(`${titleFormat} ${tagKeys}`).toContain(label)
  }
  const [, page] = /label_replace\(.*, "page", "(.*)", "", ""\)$/.exec(expr)!
  const [, address] = /<a href="(.*?)"/.exec(textFormat)!
  const link = new URL(interpolate(page!).concat(address!.replace('{{page}}', '').replace('{{target}}', 'shop')))
  expect(link.origin).toBe('https://callwatch.example')
  expect(Object.fromEntries(link.searchParams)).toEqual({
    since: '2026-11-01T00:00:00.000Z',
    until: '2026-11-02T00:00:00.000Z',
    target: 'shop',
  })
  expect(link.hash).toBe('#charts')
})

test('every colour of the dashboard is that of a series that there may be', () => {
  const unknown = everyPanelOf(dashboard()).flatMap((panel) => {
    const overrides = ('fieldConfig' in panel && panel.fieldConfig?.overrides) || []
    const legends = panels.find(({ title }) => title === panel.title)?.queries.map(({ legend }) => legend) ?? []
    return overrides
      .filter(({ matcher: { id, options } }: { matcher: { id: string; options?: string } }) => {
        // The value of each label is the one that is looked for, or any for a name.
        const [, pattern] = /^\/(.+)\/$/.exec(options ?? '') ?? []
        if (id === 'byRegexp') {
          const value = /\w+/.exec(pattern!)![0]
          return !legends.some((legend) => new RegExp(pattern!).test(legend.replaceAll(/\{\{\w+\}\}/g, value)))
        }
        return !legends.some((legend) =>
          new RegExp(`^${legend.replaceAll(/\{\{\w+\}\}/g, '\\S+')}$`).test(options ?? ''),
        )
      })
      .map(({ matcher }) => `${panel.title}: ${matcher.options}`)
  })
  expect(unknown).toEqual([])
})

test('every panel of the dashboard has a unique title and a description', () => {
  const shown = everyPanelOf(dashboard()).filter(({ type }) => type !== 'row')
  const titles = shown.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(shown.filter((panel) => !('description' in panel && panel.description)).map(({ title }) => title)).toEqual([])
})

test('the panels of the dashboard do not overlap', () => {
  const places = everyPanelOf(dashboard()).map(({ title, gridPos }) => ({ title, ...gridPos! }))
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
    const panel = everyPanelOf(dashboard()).find((each) => each.title === title && each.type !== 'row')
    const steps = panel !== undefined && 'fieldConfig' in panel ? panel.fieldConfig?.defaults.thresholds?.steps : []
    expect(steps?.map(({ value }) => value).slice(-expected.length), title).toEqual(expected)
  }
})
