import { expect, test } from 'vitest'
import { describeMetrics, type MetricDescription } from '../../../config/grafana/describe-metrics.ts'

test('docs/metrics.md lists all metrics; `npx vitest run test/unit/metrics -u` updates it', async () => {
  await expect(page(describeMetrics())).toMatchFileSnapshot('../../../docs/metrics.md')
})

function page(metrics: readonly MetricDescription[]): string {
  const durable = metrics.filter((metric) => metric.durable)
  const operational = metrics.filter((metric) => !metric.durable)
  return `# Metrics

Generated from the registry by \`npx vitest run test/unit/metrics -u\`; do not edit it by hand.

No label contains the id of a call or a user. All series but those of \`other\` start with 0. Ratios are 0 to 1, and absent where
there are too few calls. A name with \`_total\` is a counter, and all others are gauges unless marked. callwatch also exports the
usual \`process_*\` and \`nodejs_*\` metrics.

## About calls

All have the label \`target\`; further labels are in parentheses. Counters and histograms continue after a restart.

${list(durable, 'target')}

## About callwatch itself

Counters and histograms restart from 0 with the process.

${list(operational)}
`
}

/** @param common a label that all of these metrics have */
function list(metrics: readonly MetricDescription[], common?: string): string {
  expect(metrics.filter(({ labels }) => common !== undefined && !labels.includes(common))).toEqual([])
  return metrics
    .map(({ name, type, labels, help }) => {
      expect(name.endsWith('_total')).toBe(type === 'counter')
      const own = labels.filter((label) => label !== common)
      const about = [...(type === 'histogram' ? ['histogram'] : []), ...(own.length > 0 ? [own.join(', ')] : [])].join(
        '; ',
      )
      return `- \`${name}\`${about === '' ? '' : ` (${about})`}: ${help.replace(/; [\d, ]+$/, '')}`
    })
    .join('\n')
}
