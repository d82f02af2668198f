/** Values by series, in Prometheus' text form, with labels sorted by name and without the label `target`. */
export type Series = Map<string, number>

/** The text of one series. Label values may contain any character. */
export function seriesName(metric: string, labels: Record<string, string>): string {
  const names = Object.keys(labels).toSorted()
  if (names.length === 0) return metric
  return `${metric}{${names.map((name) => `${name}="${escaped(labels[name]!)}"`).join(',')}}`
}

/** Adds to the value of a series, which starts at 0. */
export function addTo(series: Series, metric: string, labels: Record<string, string>, value: number): void {
  const name = seriesName(metric, labels)
  series.set(name, (series.get(name) ?? 0) + value)
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
