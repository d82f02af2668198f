import { between, chance, whole } from '../../src/simulator/draw.ts'
import { furtherHazards } from './further-hazards.ts'
import { isShort, MINUTE, shorten, type Hazard } from './hazard.ts'

/** In the order in which they are drawn. Each is worked into the run that the ones before have left. */
export const hazards = {
  /** Alone, or much else would take hours. Less than two requests in the longest cycle, with many pages of history to read at first. */
  lowLimit: {
    probability: { calm: 0.08, ordinary: 0.08, troubled: 0.08 },
    isAlone: true,
    apply: (run, { stream }) => {
      const day = 86_400
      run.settings = {
        ...run.settings,
        lookback: [2 * day, 2 * day],
        sweepInterval: 7200,
        maxRequestsPerMinute: whole(stream, 1, 3),
        pageSizes: [20],
      }
      run.standing = { ...run.standing, order: 'newest', perPage: 'honoured', total: 'given' }
      run.mostIntensity = 0.2
      run.outages = false
    },
  },
  /** A short run hardly evicts a call otherwise. Time that a call lacks for good would make a known one look new. */
  shortLookback: {
    probability: { ordinary: 0.7, troubled: 0.4 },
    apply: (run, { stream }) => shorten(run, stream),
  },
  /** Raised and lowered at each restart and reload. */
  changingLookback: {
    probability: { ordinary: 0.35, troubled: 0.2 },
    suits: isShort,
    apply: (run) => {
      run.settings = { ...run.settings, lookback: [20 * MINUTE, 90 * MINUTE], sweepInterval: 300 }
      run.reloads = true
    },
  },
  changingPageSize: {
    probability: { ordinary: 0.2, troubled: 0.2 },
    apply: (run) => {
      run.settings = { ...run.settings, pageSizes: [10, 20, 50] }
      run.reloads = true
    },
  },
  /** New calls come in anywhere, behind a block of calls that never end and below imports. */
  order: {
    probability: { calm: 0.25, ordinary: 0.35, troubled: 0.25 },
    apply: (run, context) => {
      const { stream } = context
      const orders = ['type', 'startedAt', 'endedAt', 'inserted'] as const
      const order = orders[whole(stream, 0, orders.length - 1)]!
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, context.stream)
      run.standing = { ...run.standing, order }
      run.settings = { ...run.settings, pageSizes: run.reloads ? [10, 20] : [[10, 20, 50][whole(stream, 0, 2)]!] }
      if (order === 'endedAt') {
        // Enough of them to fill the first pages, and calls that come and go between two polls below them.
        run.pastFacts = { ...run.pastFacts, stuck: 0.3 }
        run.facts = { ...run.facts, swift: 0.6 }
        run.settings.pageSizes = [10]
      }
      if (order === 'inserted') {
        run.standing = { ...run.standing, imports: between(stream, 2, 8) }
        run.facts = { ...run.facts, swift: 0.6 }
      }
    },
  },
  imports: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.1 },
    apply: (run, { stream }) => {
      run.standing = { ...run.standing, imports: between(stream, 1, 6) }
    },
  },
  /** Reached by the history alone. */
  totalCap: {
    probability: { calm: 0.15, ordinary: 0.15, troubled: 0.15 },
    apply: (run, context) => {
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, context.stream)
      run.standing = { ...run.standing, total: 'given', totalCap: whole(context.stream, 40, 150) }
    },
  },
  /**
   * Together never older than two intervals, so that no two polls in a row show a call further back than it is; not at the set-up, where a call
   * that is over would be seen open.
   */
  stale: {
    probability: { calm: 0.3, ordinary: 0.15, troubled: 0.15 },
    apply: (run, { stream }) => {
      const cacheSeconds = chance(stream, 0.7) ? whole(stream, 2, 5) : 0
      const replicaLag = cacheSeconds === 0 || chance(stream, 0.5) ? whole(stream, 2, 22) : 0
      const switches = { cacheSeconds, replicaLag, age: chance(stream, 0.5) ? 'given' : 'absent' } as const
      run.spells.push({ from: 2 * MINUTE, to: Infinity, switches })
    },
  },
  /** By an hour, by some, or the year 2100. The truth is the set-up by the clock that the calls' times are from. */
  wrongDates: {
    probability: { ordinary: 0.18, troubled: 0.18 },
    apply: (run, { stream }) => {
      const in2100 = 4_102_444_800 - 1_790_000_000
      const offsets = [3600, 3600 * whole(stream, 2, 12), in2100, -3600, -7200]
      const wrongDateOffset = offsets[whole(stream, 0, offsets.length - 1)]!
      run.standing = { ...run.standing, date: 'given', wrongDates: whole(stream, 1, 4), wrongDateOffset }
    },
  },
  /** For longer than the lookback the list is empty, or shows less than half of the calls: by its total alone one can tell. */
  indexed: {
    probability: { ordinary: 0.12, troubled: 0.12 },
    suits: ({ standing }) => standing.totalCap === undefined,
    apply: (run, { stream, seconds }) => {
      if (!isShort(run)) shorten(run, stream, 30)
      const from = between(stream, 0.2, 0.35) * seconds
      const to = from + run.settings.lookback[1] + between(stream, 20, 45) * MINUTE
      run.spells.push({ from, to, switches: { indexed: chance(stream, 0.5) ? 0 : between(stream, 0.1, 0.4) } })
      run.standing = { ...run.standing, total: 'given' }
      run.outages = false
    },
  },
  /** No call within the lookback is behind the deepest page, and now and then the oldest leave. */
  farEnd: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.1 },
    apply: (run, context) => {
      const { stream } = context
      if (run.kind !== 'calm' && !isShort(run)) shorten(run, context.stream)
      const deepPages = (['refused', 'hang', 'empty', 'repeated'] as const)[whole(stream, 0, 3)]!
      const mostListed = chance(stream, 0.6) ? whole(stream, 180, 220) : 'all'
      // A call that was open at the set-up and lies behind the deepest page was never seen.
      run.pastFacts = { ...run.pastFacts, stuck: 0 }
      run.settings = { ...run.settings, pageSizes: [20] }
      run.standing = {
        ...run.standing,
        order: 'newest',
        perPage: 'honoured',
        deepestPage: whole(stream, 6, 8),
        deepPages,
        mostListed,
        imports: 0,
      }
    },
  },
  /** Pages get longer and the list gets shorter, so that the last page that was known is no more. */
  pastLast: {
    probability: { calm: 0.1, ordinary: 0.12, troubled: 0.12 },
    suits: ({ standing }) => standing.deepestPage === undefined,
    apply: (run, { stream, seconds }) => {
      const pastLast = chance(stream, 0.5) ? 404 : 400
      const total = chance(stream, 0.7) ? ({ total: 'given' } as const) : {}
      run.standing = { ...run.standing, ...total, order: 'oldest', perPage: 'honoured', pastLast }
      const mostListed = whole(stream, 110, 160)
      run.spells.push({ from: between(stream, 0.2, 0.6) * seconds, to: Infinity, switches: { mostListed } })
      if (run.kind === 'calm') return
      run.settings = { ...run.settings, pageSizes: [10, 20, 50] }
      run.reloads = true
    },
  },
  hiddenRows: {
    probability: { calm: 0.12, ordinary: 0.12, troubled: 0.12 },
    suits: ({ hazards }) => !hazards.includes('indexed'),
    apply: (run, { stream }) => {
      const isSaid = chance(stream, 0.7)
      run.standing = {
        ...run.standing,
        ...(isSaid ? { total: 'given', hiddenRows: whole(stream, 1, 5) } : { total: 'pages' }),
      }
    },
  },
  /** Such a call is shown open again for as long as many sweeps take, on a list that is read back to before its beginning. */
  reopened: {
    probability: { ordinary: 0.3, troubled: 0.3 },
    suits: ({ hazards, standing }) =>
      !['changingLookback', 'indexed', 'lowLimit'].some((name) => hazards.includes(name)) &&
      standing.order === undefined,
    apply: (run) => {
      const { lookback } = run.settings
      run.settings = {
        ...run.settings,
        lookback: [Math.max(4 * 3600, lookback[0]), Math.max(4 * 3600, lookback[1])],
        sweepInterval: 300,
      }
      run.pastFacts = { ...run.pastFacts, reopened: 0.6 }
      run.mostIntensity = 0.4
      run.outages = false
    },
  },
  /** A call that lacks its other times in an answer as well would be one without any: all of them are shown. */
  endedAhead: {
    probability: { ordinary: 0.12, troubled: 0.12 },
    suits: ({ hazards }) => !['reopened', 'lowLimit'].some((name) => hazards.includes(name)),
    apply: (run, { stream }) => {
      if (!isShort(run)) shorten(run, stream, 30)
      run.pastFacts = { ...run.pastFacts, ended_ahead: 0.15 }
      run.facts = { ...run.facts, ended_ahead: 0.15 }
      run.odd = { ...run.odd, fields: 0 }
      // Where the first poll comes late, the end of a call that was over before the set-up looks like one after it.
      run.outages = false
      // Where a list is read back to the lookback alone, an evicted call is not seen again.
      if (run.standing.order === undefined && chance(stream, 0.6)) run.standing = { ...run.standing, order: 'shuffled' }
    },
  },
  bigIds: {
    probability: { calm: 0.12, ordinary: 0.12, troubled: 0.12 },
    apply: (run) => {
      run.pastFacts = { ...run.pastFacts, big_id: 0.5 }
      run.facts = { ...run.facts, big_id: 0.5 }
    },
  },
  repeatedIds: {
    probability: { ordinary: 0.15, troubled: 0.15 },
    apply: (run, { stream }) => {
      const [doubled, reused] = chance(stream, 0.5) ? [0.1, 0] : [0, 0.1]
      // Shuffled, a list that shows fewer ids than rows never shows that those were all.
      if (run.standing.order === undefined) run.standing = { ...run.standing, order: 'newest' }
      run.pastFacts = { ...run.pastFacts, doubled }
      run.facts = { ...run.facts, doubled, reused, ...(run.kind === 'troubled' ? { repeated: 0.1 } : {}) }
      // Two rows of an id are told apart by their times: where an answer lacks them, nobody can.
      if (reused > 0) run.odd = { ...run.odd, fields: 0 }
    },
  },
  /** Rows are deleted during the run; never those of calls that are tracked, or whose end is yet to become plausible. */
  trimmedHistory: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.15 },
    suits: ({ hazards }) => !hazards.includes('endedAhead'),
    apply: (run, { stream }) => {
      if (run.kind === 'ordinary' && !isShort(run) && !run.hazards.includes('reopened')) shorten(run, stream)
      run.settings = { ...run.settings, retention: whole(stream, 30, 90) * MINUTE }
    },
  },
  stuck: {
    probability: { calm: 0.1, ordinary: 0.1, troubled: 0.1 },
    // A call that was open at the set-up and lies behind the deepest page was never seen.
    suits: ({ standing }) => standing.deepestPage === undefined,
    apply: (run, { stream }) => {
      run.pastFacts = { ...run.pastFacts, stuck: 0.15 }
      run.facts = { ...run.facts, stuck: chance(stream, 0.5) ? 0.05 : 0 }
    },
  },
  ...furtherHazards,
} satisfies Record<string, Hazard>

export type HazardName = keyof typeof hazards

export function isHazardName(name: string): name is HazardName {
  return Object.hasOwn(hazards, name)
}
