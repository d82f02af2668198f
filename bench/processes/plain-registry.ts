import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { readExposition, type Family, type SampleLine } from '../exposition-text.ts'
import { answer } from './answer.ts'
import { measure } from './measure.ts'

/** prom-client itself: a plain registry of the same series with the same values, and its own default metrics. */
const registers = [new Registry()]
collectDefaultMetrics({ register: registers[0]! })

answer(async ({ body }: { body?: string }) => {
  const families = body === undefined ? [] : readExposition(body)
  for (const family of families) if (family.samples.length > 0) fill(family)
  const { measured, result: text } = await measure(() => registers[0]!.metrics())
  return { ...measured, body: text }
})

function fill({ name, help, type, samples }: Family): void {
  const labelNames = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== 'le')
  const options = { name, help, labelNames, registers }
  if (type === 'histogram') {
    fillHistogram(options, samples)
  } else if (type === 'counter') {
    const counter = new Counter(options)
    for (const { labels, value } of samples) counter.inc(labels, value)
  } else {
    const gauge = new Gauge(options)
    for (const { labels, value } of samples) gauge.set(labels, value)
  }
}

/** Observes as many values as each bucket holds, all at such a height in theirs that they come to the same sum. */
function fillHistogram(options: { name: string; help: string; registers: Registry[] }, samples: SampleLine[]): void {
  const bounds = [...new Set(samples.flatMap(({ labels }) => (labels['le'] === undefined ? [] : [labels['le']])))]
  const buckets = bounds.map(Number).filter(Number.isFinite)
  const histogram = new Histogram({ ...options, buckets })
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify(withoutBound(labels)))
  for (const lines of series.values()) {
    const labels = withoutBound(lines[0]!.labels)
    histogram.zero(labels)
    const counted = lines.filter(({ metric }) => metric.endsWith('_bucket')).map(({ value }) => value)
    const sum = lines.find(({ metric }) => metric.endsWith('_sum'))?.value ?? 0
    const inBucket = counted.map((value, i) => value - (counted[i - 1] ?? 0))
    const low = (i: number) => buckets[i - 1] ?? 0
    const high = (i: number) => buckets[i] ?? 2 * low(i)
    const total = (height: (i: number) => number) => inBucket.reduce((all, count, i) => all + count * height(i), 0)
    const part = total(high) > total(low) ? (sum - total(low)) / (total(high) - total(low)) : 1
    const height = (i: number) => low(i) + Math.min(1, Math.max(1e-6, part)) * (high(i) - low(i))
    for (const [i, count] of inBucket.entries()) {
      for (let n = 0; n < count; n++) histogram.observe(labels, height(i))
    }
  }
}

function withoutBound(labels: SampleLine['labels']): SampleLine['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'))
}
