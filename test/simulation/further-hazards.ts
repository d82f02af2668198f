import { between, chance, whole } from '../../src/simulator/draw.ts'
import type { DrawnRun } from './draw-run.ts'
import { isShort, shorten, type Hazard } from './hazard.ts'

/** Ways in which a paginated list misleads who reads it. Drawn after all others. */
export const furtherHazards = {
  /** The total is how many calls are on the page, of which there are two at first. */
  totalOfPage: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run, { stream }) => {
      run.settings = { ...run.settings, pageSizes: [[20, 50, 120, 150][whole(stream, 0, 3)]!] }
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, stream)
      run.standing = { ...run.standing, perPage: 'honoured', total: 'page' }
      orderCached(run)
      run.pastFacts = { ...run.pastFacts, stuck: 0.15 }
    },
  },
  totalZero: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run, { stream }) => {
      run.settings = { ...run.settings, pageSizes: [[10, 20, 50][whole(stream, 0, 2)]!] }
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, stream)
      run.standing = { ...run.standing, total: 'zero' }
      orderCached(run)
      run.pastFacts = { ...run.pastFacts, stuck: 0.15 }
    },
  },
  /** The last page that the service names does not exist. */
  extraPage: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    suits: ({ standing }) => standing.deepestPage === undefined,
    apply: (run, { stream }) => {
      const pastLast = ([404, 400, 'empty'] as const)[whole(stream, 0, 2)]!
      const order = chance(stream, 0.5) ? 'oldest' : 'newest'
      run.standing = { ...run.standing, perPage: 'honoured', total: 'given', extraPages: 1, pastLast, order }
    },
  },
  /** Pages get shorter for good, and the list says only how many calls there are. */
  shorterPages: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    suits: ({ standing }) => standing.deepestPage === undefined && standing.totalCap === undefined,
    apply: (run, { stream, seconds }) => {
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, stream)
      const order = chance(stream, 0.7) ? 'oldest' : 'newest'
      run.settings = { ...run.settings, pageSizes: [50] }
      run.standing = { ...run.standing, total: 'calls', perPageField: 'absent', perPage: 'honoured', order }
      const switches = { perPage: [10, 20, 30][whole(stream, 0, 2)]! }
      run.spells.push({ from: between(stream, 0.2, 0.5) * seconds, to: Infinity, switches })
    },
  },
  /** A page is half as long now and then, as under load, so that its neighbours overlap or leave calls out. */
  varyingPages: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    // A page that stands where a later one should refutes the order, and without it a list whose deep pages nobody may see proves nothing.
    suits: ({ standing }) => standing.deepestPage === undefined,
    apply: (run, { stream }) => {
      const order = (['oldest', 'newest', 'type'] as const)[whole(stream, 0, 2)]!
      run.settings = { ...run.settings, pageSizes: [[10, 20, 50][whole(stream, 0, 2)]!] }
      run.standing = { ...run.standing, perPage: 'varying', total: chance(stream, 0.5) ? 'given' : 'calls', order }
    },
  },
  /** Totals come from a count that is made now and then. */
  laggingTotal: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run, { stream }) => {
      const order = (['oldest', 'newest', 'type'] as const)[whole(stream, 0, 2)]!
      run.settings = { ...run.settings, pageSizes: [[10, 20][whole(stream, 0, 1)]!] }
      run.standing = { ...run.standing, perPage: 'honoured', total: 'given', totalLag: whole(stream, 20, 300), order }
    },
  },
  /** Totals are estimates. */
  jitteringTotal: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run, { stream }) => {
      const order = (['oldest', 'newest', 'type'] as const)[whole(stream, 0, 2)]!
      run.settings = { ...run.settings, pageSizes: [[10, 20][whole(stream, 0, 1)]!] }
      run.standing = { ...run.standing, perPage: 'honoured', total: 'given', totalJitter: whole(stream, 1, 3), order }
    },
  },
  /** The host's clock is wrong, and now and then an answer does not show the service's. */
  hostClock: {
    probability: { ordinary: 0.04, troubled: 0.04 },
    suits: ({ hazards }) => !hazards.includes('wrongDates'),
    apply: (run, { stream }) => {
      run.hostAhead = (chance(stream, 0.5) ? 1 : -1) * whole(stream, 600, 7200)
      run.standing = { ...run.standing, date: chance(stream, 0.5) ? 'sometimes' : 'given', dateOffset: 0 }
    },
  },
  /** Hundreds of calls begin together, on pages of which few can be read in a poll. */
  slowBurst: {
    probability: { calm: 0.03, ordinary: 0.04, troubled: 0.04 },
    suits: ({ hazards, standing }) => standing.order === undefined && !hazards.includes('lowLimit'),
    apply: (run, { stream, seconds }) => {
      run.bursts.push({ at: between(stream, 0.3, 0.5) * seconds, calls: whole(stream, 150, 300), seconds: 60 })
      const order = chance(stream, 0.5) ? 'oldest' : 'newest'
      run.settings = { ...run.settings, pageSizes: [10] }
      run.standing = {
        ...run.standing,
        answerSeconds: between(stream, 3, 8),
        perPage: 'honoured',
        total: 'given',
        order,
      }
      run.mostIntensity = 0.2
      run.outages = false
    },
  },
  reusedIds: {
    // Not in calm runs: the replay does not know of calls that have the id of one before the set-up.
    probability: { ordinary: 0.04, troubled: 0.04 },
    suits: ({ hazards }) => !hazards.includes('repeatedIds'),
    apply: (run) => {
      run.standing = { ...run.standing, reusedIds: 0.3 }
      run.facts = { ...run.facts, swift: 0.4 }
    },
  },
  redated: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run) => {
      run.facts = { ...run.facts, redated: 0.2 }
      run.outages = false
    },
  },
  /** The reverse of a replica that lags: lists are current. */
  getCallLag: {
    probability: { calm: 0.04, ordinary: 0.04, troubled: 0.04 },
    apply: (run, { stream }) => {
      run.standing = { ...run.standing, getCallLag: whole(stream, 20, 600) }
    },
  },
  /** One of many servers has a clock of its own: now and then an answer is hours or decades ahead, or behind. */
  oddDates: {
    probability: { ordinary: 0.05, troubled: 0.05 },
    suits: ({ standing }) => standing.wrongDates === undefined && standing.wrongDateOffset === undefined,
    apply: (run, { stream }) => {
      const wrongDateOffset = [7200, 4_102_444_800 - 1_790_000_000, -7200][whole(stream, 0, 2)]!
      run.spells.push({ from: 600, to: Infinity, switches: { oddDates: 0.02, wrongDateOffset } })
    },
  },
} satisfies Record<string, Hazard>

/** A shuffled list from a cache shows the same part of it again, and without a total nothing says that there is more. */
function orderCached(run: DrawnRun): void {
  const isCached = run.spells.some(({ switches }) => (switches.cacheSeconds ?? 0) > 0)
  if (isCached && run.standing.order === undefined) run.standing = { ...run.standing, order: 'newest' }
}
