import { expect, test } from 'vitest'
import { describeMetrics, type MetricDescription } from '../../src/metrics/registry.ts'

test('docs/metrics.md lists the metrics as they are; `npx vitest run test/metrics -u` writes it anew', async () => {
  await expect(page(describeMetrics())).toMatchFileSnapshot('../../docs/metrics.md')
})

function page(metrics: readonly MetricDescription[]): string {
  const durable = metrics.filter((metric) => metric.durable)
  const operational = metrics.filter((metric) => !metric.durable)
  return `# Metrics

Generated from the registry by \`npx vitest run test/metrics -u\`; do not edit it by hand.

No label ever holds a call's or a user's id. Values that the calls service does not document are counted as \`other\`,
whose series appear with their first use; every other label set is there with 0 from the start. Ratios are 0 to 1, and
absent where there were too few calls. The usual \`process_*\` and \`nodejs_*\` metrics come with these.

## About calls

Read from the store at every scrape: counters and histograms go on over a restart where they were.

${table(durable)}

## About callwatch itself

Counters and histograms of these start again from 0 with the process.

${table(operational)}
`
}

function table(metrics: readonly MetricDescription[]): string {
  const rows = metrics.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  )
  return ['| Metric | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n')
}
