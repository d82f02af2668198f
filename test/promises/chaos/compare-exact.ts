import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { countedCalls } from '../../../src/simulator/expected/counted-calls.ts'
import { type Series, exactFamilies } from '../../../src/simulator/expected/expected-series.ts'
import type { SimulatedWorld } from '../../kit/world/start-world.ts'
import { callsOf } from '../../kit/world/oracle/call-of.ts'
import { expectedSeries } from '../../kit/world/oracle/expected-series.ts'
import { setAside } from '../../kit/world/oracle/set-aside.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { contribution, FAMILIES_OBSERVED_ONCE } from '../simulation/row-sums.ts'
import { difference, lessCorrections } from '../../kit/replay/exposition.ts'

export type ExactComparison = {
  /** Series that were compared. */
  series: number
  /** What differs, a line each; minutes are not among them. */
  differences: string[]
  /** The largest relative difference of minutes less corrections. */
  minutes: number
  /** Calls that were set aside, by the reason; a call may have several. */
  aside: Record<string, number>
}

/**
 * Compares what the daemon exports with what happened. Calls whose series depend on when one polls are removed
 * on both sides by name; of the histograms, whose parts a row does not keep, each may have added one at most.
 *
 * @param calls every call that the store has a row of
 */
export function compareExact(
  simulator: SimulatedWorld,
  exported: Series,
  { calls, created }: { calls: ReadonlyMap<string, TrackedCall>; created: number },
): ExactComparison {
  const { withoutEndedAt } = setAside(simulator.ledger(), created)
  const reasons = { ...simulator.setAside(), withoutEndedAt }
  const aside = new Set(Object.values(reasons).flat())
  const expected = lessCorrections(
    expectedSeries(simulator.ledger(), { created, baseline: 'skip', now: Infinity, except: aside }),
  )
  const actual = lessCorrections(exported)
  const callOf = callsOf(simulator.ledger())
  const counted = new Set<string>()
  for (const call of calls.values()) {
    const id = callOf({ ...call, session: sessionOf(call) }) ?? call.id
    if (call.phase !== 'baseline') counted.add(id)
    if (!aside.has(id)) continue
    for (const [series, value] of contribution(call)) actual.set(series, (actual.get(series) ?? 0) - value)
  }
  const isMinutes = (family: string) => family.endsWith('_minutes_total')
  const families = exactFamilies.filter((name) => !isMinutes(name) && !FAMILIES_OBSERVED_ONCE.includes(name))
  const differences = difference(expected, actual, families)
    .map(({ series, expected: happened, actual: counted }) => `${series}: ${happened} happened, ${counted} counted`)
    .concat(histogramProblems(expected, actual, aside.size))
  if (differences.length > 0) differences.push(...uncounted(simulator, created, new Set([...aside, ...counted])))
  const minutes = [...new Set([...expected.keys(), ...actual.keys()])].filter((name) => isMinutes(name.split('{')[0]!))
  const apart = minutes.map((series) => relative(expected.get(series) ?? 0, actual.get(series) ?? 0))
  return {
    series: [...expected.keys()].length,
    differences,
    minutes: Math.max(0, ...apart),
    aside: Object.fromEntries(Object.entries(reasons).map(([reason, ids]) => [reason, ids.length])),
  }
}

/** The calls that happened and have no row that counts, with all that happened to each. */
function uncounted(simulator: SimulatedWorld, created: number, except: ReadonlySet<string>): string[] {
  const happened = countedCalls(simulator.ledger(), { created, baseline: 'skip', now: Infinity })
  return happened.flatMap(({ first: { call } }) => {
    if (except.has(call)) return []
    const events = simulator.ledger().filter((event) => event.call === call)
    return `${call} is not counted (set up at ${created}): ${JSON.stringify(events)}`
  })
}

/** Where calls were set aside, their sums are unknown, and each added at most one to a family. */
function histogramProblems(expected: Series, actual: Series, aside: number): string[] {
  const problems: string[] = []
  const excess = new Map<string, number>()
  for (const { series, expected: happened, actual: counted } of difference(expected, actual, FAMILIES_OBSERVED_ONCE)) {
    const [metric = ''] = series.split('{')
    if (metric.endsWith('_sum') && aside > 0) continue
    const more = counted - happened
    if (more < 0 || more > aside) problems.push(`${series}: ${happened} happened, ${counted} counted`)
    if (metric.endsWith('_count')) excess.set(metric, (excess.get(metric) ?? 0) + more)
  }
  for (const [metric, more] of excess) if (more > aside) problems.push(`${metric}: ${more} of ${aside} set aside`)
  return problems
}

function relative(a: number, b: number): number {
  return Math.abs(a - b) / Math.max(1, Math.abs(a), Math.abs(b))
}
