import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import { SCRAPE_INTERVAL, TARGETS } from './watched-by-prometheus.ts'

/** A panel with what it asks Prometheus. */
export type Panel = { title: string; queries: { legend: string; expr: string; instant: boolean }[] }

/** The panels of a dashboard that show something; rows do not. */
export function panelsOf({ panels = [] }: Dashboard): Panel[] {
  return panels
    .filter(({ type }) => type !== 'row')
    .map((panel) => ({
      title: panel.title ?? '',
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every query here is one of the Prometheus kind
      queries: (('targets' in panel ? panel.targets : undefined) ?? []).map((target) => target as Target),
    }))
    .map(({ title, queries }) => ({
      title,
      queries: queries.map(({ legendFormat = '', expr = '', instant = false }) => ({
        legend: legendFormat,
        expr,
        instant,
      })),
    }))
}

type Target = { expr?: string; legendFormat?: string; instant?: boolean }

/** A query as Grafana sends it: with the chosen targets and its own variables filled in. */
export function filledIn(expr: string): string {
  const variables: Record<string, string> = {
    target: `(${TARGETS.join('|')})`,
    // Four scrapes, as Grafana computes it of the data source's interval.
    __rate_interval: `${4 * SCRAPE_INTERVAL}s`,
    __range: '1h',
  }
  return expr.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = variables[name]
    if (value === undefined) throw new Error(`no value for $${name} in ${expr}`)
    return value
  })
}
