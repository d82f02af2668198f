import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { dashboard } from '../../../config/grafana/dashboard.ts'
import { readExposition } from '../../kit/metrics/read-exposition.ts'
import { ACCEPTED_COMPLAINTS, complaintsOf } from '../../kit/promtool.ts'
import { interpolate, panelsOf } from '../../kit/prometheus/panels-of.ts'
import {
  missingPrograms,
  SHIPPED,
  TARGETS,
  startPrometheus,
  type RunningPrometheus,
} from '../../kit/prometheus/prometheus-process.ts'

/** Panels without data while the service is healthy, each with the reason. */
const EMPTY_WHILE_HEALTHY: Readonly<Record<string, string>> = {
  'Firing alerts': 'no alert fires',
  'Ends without a webhook': 'no end has waited a minute for its webhook',
  'Delay of webhooks': 'the webhooks name no call',
  'Expected by the rules': 'no target is known for a week',
  'Notifications pending': 'no receiver is configured',
  'Oldest notification': 'no receiver is configured',
  'Notifications, last hour': 'no receiver is configured',
}

const panels = panelsOf(dashboard())
const skipped = missingPrograms.length > 0 && process.env['CI'] !== 'true'

if (skipped) {
  test.skip(`${missingPrograms.join(', ')} not on the PATH: apt-get install prometheus`, () => {})
} else {
  describe('a Prometheus with the shipped configuration that scrapes a daemon', () => {
    let prometheus: RunningPrometheus
    beforeAll(async () => void (prometheus = await startPrometheus()), 120_000)
    afterAll(() => prometheus?.stop())

    test('scrapes OpenMetrics without errors', async () => {
      const { activeTargets } = await askFor<{ activeTargets: object[] }>('targets')
      expect(activeTargets).toEqual([expect.objectContaining({ health: 'up', lastError: '', scrapePool: 'callwatch' })])
      // In OpenMetrics the name of a counter has no _total, in Prometheus' own format it has.
      const counters = await askFor<Record<string, object[]>>('metadata?limit=1000')
      expect(counters).toHaveProperty('callwatch_calls', [expect.objectContaining({ type: 'counter' })])
      expect(counters).not.toHaveProperty('callwatch_calls_total')
    })

    test('has exactly the series that the daemon exports', async () => {
      // Series come and go with calls, so the daemon may export others than at the last scrape.
      await vi.waitFor(
        async () => {
          const exposition = await (await fetch(`${prometheus.daemon}metrics`)).text()
          const exported = [...readExposition(exposition).values()].flatMap(({ samples }) => samples)
          const known = await prometheus.query('{__name__=~"callwatch_.+"}')
          const namesOf = (all: readonly string[]) => [...new Set(all)].filter((name) => name.startsWith('callwatch_'))
          expect(namesOf(known.map(({ labels }) => labels['__name__'] ?? '')).toSorted()).toEqual(
            namesOf(exported.map(({ name }) => name)).toSorted(),
          )
          expect(known).toHaveLength(exported.filter(({ name }) => name.startsWith('callwatch_')).length)
        },
        { timeout: 60_000, interval: 500 },
      )
    })

    test('scrapes an exposition in which promtool finds only the accepted problems', async () => {
      const body = await (await fetch(`${prometheus.daemon}metrics`)).text()
      expect(complaintsOf(body)).toEqual(ACCEPTED_COMPLAINTS)
    })

    test('evaluates every rule, and no alert fires', async () => {
      type Rule = { name: string; type: string; health: string; lastError?: string; state?: string }
      const { groups } = await askFor<{ groups: { rules: Rule[] }[] }>('rules')
      const rules = groups.flatMap((group) => group.rules)
      expect(rules.length).toBeGreaterThan(15)
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
      expect(rules.filter(({ type, state }) => type === 'alerting' && state === 'firing')).toEqual([])
    })

    const recorded = new Set<string>(
      parse(readFileSync(join(SHIPPED, 'callwatch-recording.yaml'), 'utf8')).groups.flatMap(
        ({ rules }: { rules: { record: string }[] }) => rules.map(({ record }) => record),
      ),
    )
    test.each([...recorded])('has a value of the recording rule %s for each target', async (record) => {
      const series = await prometheus.query(record)
      const targets = series.filter(({ values }) => values.some(Number.isFinite)).map(({ labels }) => labels['target'])
      expect(new Set(targets)).toEqual(new Set(TARGETS))
    })

    test('gives the variable of the dashboard all targets', async () => {
      const [, variable] = dashboard().templating.list ?? []
      const [, series = '', label = ''] =
        /^label_values\((.+), (\w+)\)$/.exec(typeof variable?.query === 'string' ? variable.query : '') ?? []
      const known = await prometheus.query(series)
      expect(new Set(known.map(({ labels }) => labels[label]))).toEqual(new Set(TARGETS))
    })

    test.each(panels)('has data for the panel "$title"', async ({ title, queries }) => {
      expect(queries.length).toBeGreaterThan(0)
      for (const { legend, expr, instant } of queries) {
        const series = await prometheus.query(interpolate(expr), instant ? undefined : { seconds: 8 })
        const shown = series.filter(({ values }) => values.some(Number.isFinite))
        const message = `${legend}: ${interpolate(expr)}`
        if (title in EMPTY_WHILE_HEALTHY) expect(shown, message).toEqual([])
        else expect(shown, message).not.toEqual([])
        // The series have the labels of the legend.
        const names = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!)
        for (const { labels } of shown) expect(Object.keys(labels)).toEqual(expect.arrayContaining(names))
        const legends = shown.map(({ labels }) => names.map((name) => labels[name]).join(' '))
        if (!instant) expect(new Set(legends).size, `${message} has two series with one legend`).toBe(shown.length)
      }
    })

    test('gives the annotations of firing alerts the labels in their text', async () => {
      const { expr = '', textFormat = '', titleFormat = '' } = dashboard().annotations.list![0]!
      const asked = interpolate(expr)
      expect(await prometheus.query(asked)).toEqual([])
      // No alert fires: another metric takes the place of theirs, as 1 also of a target that is down.
      const standIn =
        'label_replace(label_replace(callwatch_up >= bool 0, "alert", "A", "", ""), "severity", "critical", "", "")'
      const series = await prometheus.query(asked.replace(/callwatch_alerts\{.*?\}/, standIn))
      expect(new Set(series.map(({ labels }) => labels['target']))).toEqual(new Set(TARGETS))
      const named = [...`${titleFormat} ${textFormat}`.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!)
      for (const { labels } of series) {
        expect(Object.keys(labels)).toEqual(expect.arrayContaining([...named, 'severity']))
        expect(labels['page']).toMatch(/^https:\/\/callwatch\.example\/\?since=2026-11-01T00:00:00\.000Z&until=/)
      }
    })

    async function askFor<T>(path: string): Promise<T> {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the documented shape of Prometheus' API
      return (await prometheus.api(path)) as T
    }
  })
}

test('every panel that may be empty while the service is healthy is on the dashboard', () => {
  const titles = new Set(panels.map(({ title }) => title))
  expect(Object.keys(EMPTY_WHILE_HEALTHY).filter((title) => !titles.has(title))).toEqual([])
})
