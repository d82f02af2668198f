import { expect, test } from 'vitest'
import { initSeries } from '../../../src/metrics/series.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { handMadeTarget, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { readExposition, type Family } from '../../kit/metrics/read-exposition.ts'

function metrics() {
  const counters = { 'callwatch_calls_total|audio|call|user|ended': 7 }
  const made = metricsOf(() => [handMadeTarget({ counters, sync: POLLED })], '1')
  initSeries(made.operational, 'target', 'production')
  made.operational.polls.inc({ target: 'production', outcome: 'complete' }, 3)
  return made
}

test('an exposition in OpenMetrics has its content type and ends in # EOF', async () => {
  const { contentType, body } = await metrics().expose('openmetrics')
  expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(body.endsWith('\n# EOF\n')).toBe(true)
  expect(body.match(/# EOF/g)).toHaveLength(1)
})

test('an exposition in the Prometheus format has its content type and no # EOF', async () => {
  const { contentType, body } = await metrics().expose('prometheus')
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(body).not.toContain('# EOF')
  expect(body.endsWith('\n')).toBe(true)
})

test('a counter in OpenMetrics has a family without _total, and samples with it', async () => {
  const families = readExposition((await metrics().expose('openmetrics')).body)
  for (const name of ['callwatch_calls', 'callwatch_polls', 'process_cpu_seconds']) {
    expect(families.get(name)?.type).toBe('counter')
    expect(new Set(families.get(name)?.samples.map((sample) => sample.name))).toEqual(new Set([`${name}_total`]))
  }
  expect(families.has('callwatch_calls_total')).toBe(false)
})

test('both exposition formats have the same series with the same values', async () => {
  const { expose } = metrics()
  const prometheus = ofCallwatch(readExposition((await expose('prometheus')).body))
  const openmetrics = ofCallwatch(readExposition((await expose('openmetrics')).body))
  expect(openmetrics).toEqual(prometheus)
  expect(prometheus).toContainEqual(expect.objectContaining({ name: 'callwatch_polls_total', value: 3 }))
  expect(prometheus).toContainEqual(expect.objectContaining({ name: 'callwatch_calls_total', value: 7 }))
})

test('an exposition in one format does not change later expositions in the other', async () => {
  const { expose } = metrics()
  const before = ofCallwatch(readExposition((await expose('prometheus')).body))
  for (let i = 0; i < 3; i++) await expose('openmetrics')
  const { body } = await expose('prometheus')
  expect(ofCallwatch(readExposition(body))).toEqual(before)
  expect(body).toContain('# TYPE callwatch_calls_total counter')
  const again = readExposition((await expose('openmetrics')).body)
  expect([...again.keys()].filter((name) => name.endsWith('_total') && again.get(name)?.type === 'counter')).toEqual([])
})

function ofCallwatch(families: ReadonlyMap<string, Family>) {
  return [...families.values()].flatMap(({ samples }) => samples).filter(({ name }) => name.startsWith('callwatch_'))
}
