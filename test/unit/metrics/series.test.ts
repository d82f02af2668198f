import { expect, test } from 'vitest'
import {
  COUNTER_DEFINITIONS,
  GAUGE_DEFINITIONS,
  HISTOGRAM_DEFINITIONS,
  type MetricDefinition,
} from '../../../src/metrics/operational-metrics.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { initSeries, removeSeries } from '../../../src/metrics/series.ts'

const OWNERS = ['target', 'receiver', 'webhook'] as const
const DEFINITIONS: Record<string, MetricDefinition> = {
  ...COUNTER_DEFINITIONS,
  ...GAUGE_DEFINITIONS,
  ...HISTOGRAM_DEFINITIONS,
}

test.each(OWNERS)('of a %s that is gone no series is left, whatever its labels came to', async (owner) => {
  const { operational, expose } = metricsOf(() => [], '1')
  const shown = async () => (await expose('prometheus')).body.split('\n').filter((line) => line.includes('"gone"'))
  initSeries(operational, owner, 'gone')
  const own = Object.entries(DEFINITIONS).filter(([, { labels }]) => labels.includes(owner))
  expect(own.length).toBeGreaterThan(0)
  for (const [key, { labels, values = {} }] of own) {
    const given = labels.map((label) => [
      label,
      label === owner ? 'gone' : label === 'code' ? '418' : values[label]![0]!,
    ])
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries does not keep the keys in its type
    const metric = operational[key as keyof typeof operational]
    if ('observe' in metric) metric.observe(Object.fromEntries(given), 1)
    else metric.inc(Object.fromEntries(given), 1)
    expect((await shown()).some((line) => line.startsWith(DEFINITIONS[key]!.name))).toBe(true)
  }
  removeSeries(operational, owner, 'gone', { code: ['418'] })
  expect(await shown()).toEqual([])
})

test('what only some answers have is absent until then', async () => {
  const { operational, expose } = metricsOf(() => [], '1')
  for (const owner of OWNERS) initSeries(operational, owner, 'a')
  const { body } = await expose('prometheus')
  expect(body).toContain('callwatch_up{target="a"} 0')
  expect(body).not.toContain('callwatch_api_ratelimit_remaining{')
})
