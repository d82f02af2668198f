import { collectDefaultMetrics, Registry, type Metric, type OpenMetricsContentType } from 'prom-client'
import { DERIVED_METRICS, type DerivedMetric, type ExportedTarget } from './derived-metrics.ts'
import { operationalMetrics } from './operational-metrics.ts'

export type Metrics = ReturnType<typeof metricsOf>

/**
 * Registers all metrics that callwatch exports.
 *
 * @param targets returns the targets with their committed state; called at each scrape
 * @param version of callwatch
 */
export function metricsOf(targets: () => readonly ExportedTarget[], version: string) {
  const prometheus = new Registry()
  const operational = operationalMetrics(prometheus)
  operational.buildInfo.set({ version, node: process.versions.node }, 1)
  operational.reloadSuccessful.set(1)
  operational.storeWritable.set(1)
  for (const change of ['added', 'edited', 'expired']) operational.silenceChanges.inc({ change }, 0)
  collectDefaultMetrics({ register: prometheus })
  for (const metric of DERIVED_METRICS) prometheus.registerMetric(scraped(metric, targets))
  // prom-client renames counters in place for OpenMetrics, so this format needs its own metric objects.
  const openmetrics = new Registry<OpenMetricsContentType>()
  openmetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- prom-client's type for these metrics is too general
  for (const metric of prometheus.getMetricsAsArray() as unknown as AnyMetric[])
    openmetrics.registerMetric(copied(metric))
  return {
    operational,
    /** The response to a scrape. */
    expose: async (format: 'prometheus' | 'openmetrics') => {
      const registry = format === 'openmetrics' ? openmetrics : prometheus
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}

type Values = { name: string; help: string; type: string; values: unknown[] }
/** The members of a metric that a registry uses, which are fewer than prom-client's types require. */
type AnyMetric = { name: string; get: () => Values | Promise<Values>; getForPromString?: () => Promise<Values> }

function scraped({ name, help, type, read }: DerivedMetric, targets: () => readonly ExportedTarget[]): Metric {
  const metric = { name, help, type, get: () => ({ name, help, type, values: targets().flatMap(read) }) }
  return asMetric(metric)
}

function copied(metric: AnyMetric): Metric {
  const copy = {
    ...metric,
    name: metric.name,
    get: async () => ({ ...(await (metric.getForPromString ?? metric.get).call(metric)), name: copy.name }),
    getForPromString: undefined,
  }
  return asMetric(copy)
}

function asMetric(metric: object): Metric {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see AnyMetric
  return metric as unknown as Metric
}
