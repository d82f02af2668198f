import {
  COUNTER_DEFINITIONS,
  GAUGE_DEFINITIONS,
  HISTOGRAM_DEFINITIONS,
  type MetricDefinition,
  type OperationalMetrics,
} from './operational-metrics.ts'

/** Whose series come and go while the daemon runs: each metric of theirs has this as its first label. */
const OWNERS = ['target', 'receiver', 'webhook'] as const
export type Owner = (typeof OWNERS)[number]

type Labels = Record<string, string>

export type OwnedSeries = ReturnType<typeof ownedSeries>

/**
 * The series of targets, receivers and webhooks: they are there for as long as those are.
 *
 * @param named what there is at the moment
 */
export function ownedSeries(metrics: OperationalMetrics, named: () => Readonly<Record<Owner, readonly string[]>>) {
  /** Each with the codes that its requests have come to. */
  const owned: Record<Owner, Map<string, Set<string>>> = { target: new Map(), receiver: new Map(), webhook: new Map() }

  function begin(owner: Owner, name: string): void {
    if (owned[owner].has(name)) return
    initSeries(metrics, owner, name)
    owned[owner].set(name, new Set())
  }

  function end(owner: Owner, name: string): void {
    const codes = owned[owner].get(name)
    if (codes !== undefined) removeSeries(metrics, owner, name, { code: codes })
    owned[owner].delete(name)
  }

  function update(): void {
    const now = named()
    for (const owner of OWNERS) {
      const names = new Set(now[owner])
      for (const name of names) begin(owner, name)
      for (const name of owned[owner].keys()) if (!names.has(name)) end(owner, name)
    }
  }

  update()
  return {
    /** Adds the series of what is there now, and removes those of what is not. */
    update,
    begin,
    end,
    has: (owner: Owner, name: string) => owned[owner].has(name),
    /** Notes a code, next to those with which each begins. */
    seen: (owner: Owner, name: string, code: string) => void owned[owner].get(name)?.add(code),
  }
}

/** Adds the series of a target, a receiver or a webhook of events with 0, so that `rate()` sees the first increment. */
export function initSeries(metrics: OperationalMetrics, owner: Owner, name: string): void {
  for (const [key, definition] of definitionsOf(COUNTER_DEFINITIONS, owner))
    if (definition.isSparse !== true) for (const labels of labelSets(definition, name)) metrics[key].inc(labels, 0)
  for (const [key, definition] of definitionsOf(GAUGE_DEFINITIONS, owner))
    if (definition.values !== undefined) metrics[key].set({ [owner]: name }, 0)
  for (const [key, definition] of definitionsOf(HISTOGRAM_DEFINITIONS, owner))
    if (definition.isSparse !== true) for (const labels of labelSets(definition, name)) metrics[key].zero(labels)
}

/**
 * Removes all series of one that is gone. It names each set of labels: a search through the series of thousands of targets would
 * be slow.
 *
 * @param seen values of labels that came up, next to those with which each begins
 */
export function removeSeries(
  metrics: OperationalMetrics,
  owner: Owner,
  name: string,
  seen: Readonly<Record<string, Iterable<string>>> = {},
): void {
  const all = { ...COUNTER_DEFINITIONS, ...GAUGE_DEFINITIONS, ...HISTOGRAM_DEFINITIONS }
  for (const [key, definition] of definitionsOf(all, owner))
    for (const labels of labelSets(definition, name, seen)) metrics[key].remove(labels)
}

function definitionsOf<Key extends string>(
  definitions: Readonly<Record<Key, MetricDefinition>>,
  owner: Owner,
): [Key, MetricDefinition][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries does not keep the keys in its type
  const all = Object.entries(definitions) as [Key, MetricDefinition][]
  return all.filter(([, { labels }]) => labels[0] === owner)
}

/** Each combination of the values of its labels. */
function labelSets(
  { labels: [owner = '', ...others], values = {} }: MetricDefinition,
  name: string,
  seen: Readonly<Record<string, Iterable<string>>> = {},
): Labels[] {
  let sets: Labels[] = [{ [owner]: name }]
  for (const label of others) {
    const each = new Set([...(values[label] ?? []), ...(seen[label] ?? [])])
    sets = sets.flatMap((labels) => [...each].map((value) => ({ ...labels, [label]: value })))
  }
  return sets
}
