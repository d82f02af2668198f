import { between, chance, pick, whole, type Random } from '../../../src/simulator/random.ts'
import type { DrawnRun } from './draw-run.ts'
import { evicting, isReadToItsEnd, type Hazard, type HazardChange } from './hazard.ts'

/** Totals and pages that mislead a reader. */
export const pageHazards = {
  /** The total is how many calls are on the page, of which there are two at first. */
  totalOfPage: {
    probability: 0.04,
    change: (run, stream) => ({
      settings: { pageSizes: [pick(stream, [20, 50, 120, 150])], ...evicting(run, stream) },
      standing: { perPage: 'honoured', total: 'page', ...orderOfCached(run) },
      pastFacts: { stuck: 0.15 },
    }),
  },
  totalZero: {
    probability: 0.04,
    change: (run, stream) => ({
      settings: { pageSizes: [pick(stream, [10, 20, 50])], ...evicting(run, stream) },
      standing: { total: 'zero', ...orderOfCached(run) },
      pastFacts: { stuck: 0.15 },
    }),
  },
  /** The last page that the service names does not exist. */
  extraPage: {
    probability: 0.04,
    suits: isReadToItsEnd,
    change: (_run, stream) => {
      const pastLast = pick(stream, [404, 400, 'empty'])
      const order = chance(stream, 0.5) ? 'oldest' : 'newest'
      return { standing: { perPage: 'honoured', total: 'given', extraPages: 1, pastLast, order } }
    },
  },
  /** Pages get shorter for good, and the list shows only how many calls there are. */
  shorterPages: {
    probability: 0.04,
    suits: (run) => isReadToItsEnd(run) && run.standing.totalCap === undefined,
    change: (run, stream, { seconds }) => {
      const settings = { ...evicting(run, stream), pageSizes: [50] }
      const order = chance(stream, 0.7) ? 'oldest' : 'newest'
      const switches = { perPage: pick(stream, [10, 20, 30]) }
      return {
        settings,
        standing: { total: 'calls', perPageField: 'absent', perPage: 'honoured', order },
        spells: [{ from: between(stream, 0.2, 0.5) * seconds, to: Infinity, switches }],
      }
    },
  },
  /** A page is half as long now and then, as under load, so that its neighbours overlap or leave calls out. */
  varyingPages: {
    probability: 0.04,
    // A page in the place of a later one refutes the order, and without it a list with hidden deep pages proves nothing.
    suits: isReadToItsEnd,
    change: (_run, stream) => {
      const order = pick(stream, ['oldest', 'newest', 'type'])
      const settings = { pageSizes: [pick(stream, [10, 20, 50])] }
      return { settings, standing: { perPage: 'varying', total: chance(stream, 0.5) ? 'given' : 'calls', order } }
    },
  },
  /** Totals come from a count that is made now and then. */
  laggingTotal: {
    probability: 0.04,
    change: (_run, stream) => inexactTotal(stream, () => ({ totalLag: whole(stream, 20, 300) })),
  },
  /** Totals are estimates. */
  jitteringTotal: {
    probability: 0.04,
    change: (_run, stream) => inexactTotal(stream, () => ({ totalJitter: whole(stream, 1, 3) })),
  },
} satisfies Record<string, Hazard>

function inexactTotal(stream: Random, how: () => DrawnRun['standing']): HazardChange {
  const order = pick(stream, ['oldest', 'newest', 'type'])
  const settings = { pageSizes: [pick(stream, [10, 20])] }
  return { settings, standing: { perPage: 'honoured', total: 'given', ...how(), order } }
}

/** A shuffled list from a cache shows the same part of it again, and without a total nothing shows that there is more. */
function orderOfCached({ spells, standing }: DrawnRun): DrawnRun['standing'] {
  const isCached = spells.some(({ switches }) => (switches.cacheSeconds ?? 0) > 0)
  return isCached && standing.order === undefined ? { order: 'newest' } : {}
}
