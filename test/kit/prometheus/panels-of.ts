import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import { SCRAPE_INTERVAL, TARGETS } from './prometheus-process.ts'

/** A panel with its queries. */
export type Panel = { title: string; queries: { legend: string; expr: string; instant: boolean }[] }

type AnyPanel = NonNullable<Dashboard['panels']>[number]

/** The rows and panels of a dashboard, in its order; a collapsed row holds its panels. */
export function everyPanelOf({ panels = [] }: Dashboard): AnyPanel[] {
  return panels.flatMap((panel) => [panel, ...('panels' in panel ? panel.panels : [])])
}

/** The panels of a dashboard, without rows. */
export function panelsOf(dashboard: Dashboard): Panel[] {
  return everyPanelOf(dashboard)
    .filter(({ type }) => type !== 'row')
    .map((panel) => ({
      title: panel.title ?? '',
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every query here is a Prometheus query
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

/** Replaces the variables of a query, as Grafana does before it sends the query. */
export function interpolate(expr: string): string {
  const variables: Record<string, string> = {
    target: `(${TARGETS.join('|')})`,
    type: '.+',
    mode: '(call|meet)',
    receiver_type: '.+',
    // A constant of the dashboard, as often as Prometheus scrapes.
    resolution: `${SCRAPE_INTERVAL}s`,
    // Grafana uses four times the interval of the data source.
    __rate_interval: `${4 * SCRAPE_INTERVAL}s`,
    __range: '1h',
    callwatch_url: 'https://callwatch.example',
    __from: '2026-11-01T00:00:00.000Z',
    __to: '2026-11-02T00:00:00.000Z',
  }
  return expr.replaceAll(/\$(?:(\w+)|\{(\w+)[:\w]*\})/g, (_, plain?: string, formatted?: string) => {
    const name = plain ?? formatted!
    const value = variables[name]
    if (value === undefined) throw new Error(`no value for $${name} in ${expr}`)
    return value
  })
}
