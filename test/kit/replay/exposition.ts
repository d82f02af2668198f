import { addTo, seriesName, type Series } from '../../../src/simulator/expected/expected-series.ts'

/** One series whose values differ; a series that is not there has the value 0. */
export type Difference = { series: string; expected: number; actual: number }

const TOLERANCE = 1e-9

/**
 * Reads a Prometheus text exposition: every series whose name begins with `callwatch_`, without its label `target`.
 *
 * @param target only this target's series, and those of none; absent: all, targets added up
 * @throws SyntaxError with a line that is no sample
 */
export function parseExposition(text: string, target?: string): Series {
  const series: Series = new Map()
  for (const line of text.split('\n')) {
    if (!line.startsWith('callwatch_')) continue
    const [, metric, labelText = '', valueText] = /^([a-zA-Z0-9_:]+)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?$/.exec(line) ?? []
    const value = numberOf(valueText)
    if (metric === undefined || value === undefined) throw new SyntaxError(`no sample: ${line}`)
    const { target: from, ...labels } = labelsOf(labelText)
    if (target === undefined || from === undefined || from === target) addTo(series, metric, labels, value)
  }
  return series
}

/**
 * The series of the given families (`callwatch_calls_total`, a histogram by its name without suffix) whose values
 * differ. Minutes and sums may differ by a billionth, relative above 1; everything else must be the same number.
 */
export function difference(expected: Series, actual: Series, families: readonly string[]): Difference[] {
  const names = [...new Set([...expected.keys(), ...actual.keys()])].toSorted()
  return names
    .filter((series) => families.some((family) => belongs(series, family)))
    .map((series) => ({ series, expected: expected.get(series) ?? 0, actual: actual.get(series) ?? 0 }))
    .filter((found) => !same(found))
}

/**
 * The same series with minutes as sums by medium and level, and invited people by outcome, less corrections: what stays exact where
 * numbers of final calls went down. Expected and actual values are both to go through this.
 */
export function lessCorrections(series: Series): Series {
  const result: Series = new Map()
  for (const [name, value] of series) {
    const metric = metricOf(name)
    const labels = labelsOf(name.slice(metric.length + 1, -1))
    const { media = '', outcome = '' } = labels
    if (metric === 'callwatch_call_minutes_total') addTo(result, metric, { media }, value)
    else if (metric === 'callwatch_minutes_corrections_total') {
      addTo(result, `callwatch_${labels['level']}_minutes_total`, { media }, -value)
    } else if (metric === 'callwatch_invited_total') addTo(result, metric, { outcome }, value)
    else if (metric === 'callwatch_invited_corrections_total')
      addTo(result, 'callwatch_invited_total', { outcome }, -value)
    else addTo(result, seriesName(metric, labels), {}, value)
  }
  return result
}

/** The sum over the series whose names match. */
export function sumOf(series: Series, pattern: RegExp): number {
  return [...series].reduce((sum, [name, value]) => sum + (pattern.test(name) ? value : 0), 0)
}

/** The webhooks of the service that were hints. */
export const hintsIn = (exported: Series) => sumOf(exported, /^callwatch_service_webhooks_total\{.*outcome="hint"/)

function belongs(series: string, family: string): boolean {
  const metric = metricOf(series)
  return metric === family || ['_bucket', '_sum', '_count'].some((suffix) => metric === family + suffix)
}

function same({ series, expected, actual }: Difference): boolean {
  const metric = metricOf(series)
  if (!metric.includes('_minutes') && !metric.endsWith('_sum')) {
    return expected === actual || (Number.isNaN(expected) && Number.isNaN(actual))
  }
  return Math.abs(expected - actual) <= TOLERANCE * Math.max(1, Math.abs(expected), Math.abs(actual))
}

function metricOf(series: string): string {
  return series.split('{', 1)[0]!
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [, name, value] of text.matchAll(/([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name!] = value!.replaceAll(/\\(.)/g, (_all, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  }
  return labels
}

function numberOf(text: string | undefined): number | undefined {
  if (text === '+Inf' || text === '-Inf') return text === '+Inf' ? Infinity : -Infinity
  if (text === 'NaN') return NaN
  const value = Number(text)
  return text === undefined || Number.isNaN(value) ? undefined : value
}
