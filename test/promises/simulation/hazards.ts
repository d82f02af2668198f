import { between, chance, pick, whole } from '../../../src/simulator/random.ts'
import { always, evicting, isReadToItsEnd, isShort, MINUTE, shortLookback, type Hazard } from './hazard.ts'
import { pageHazards } from './page-hazards.ts'
import { sessionHazards } from './session-hazards.ts'

const HOUR = 3600
const DAY = 86_400
/** So far ahead is the year 2100. */
const IN_2100 = 4_102_444_800 - 1_790_000_000

/** No world has more calls in progress at a time. */
const MOST_OPEN = 60

/** In the order in which they are drawn. A new one is an entry at the end, unless all others are to be drawn with it. */
export const hazards = {
  ...sessionHazards,
  /** Alone, or much else would take hours. Less than two requests in the longest cycle, with many pages of history to read at first. */
  lowLimit: {
    probability: 0.08,
    isAlone: true,
    change: (_run, stream) => ({
      settings: {
        lookback: always(48 * HOUR),
        sweepInterval: 7200,
        maxRequestsPerMinute: whole(stream, 1, 3),
        pageSizes: [20],
      },
      standing: { order: 'newest', perPage: 'honoured', total: 'given' },
      mostIntensity: 0.2,
      outages: false,
    }),
  },
  /** A short run hardly evicts a call otherwise. Time that a call lacks for good would make a known one look new. */
  shortLookback: {
    probability: { ordinary: 0.7, troubled: 0.4 },
    change: (_run, stream) => ({ settings: shortLookback(stream) }),
  },
  /** Raised and lowered at each restart and reload. */
  changingLookback: {
    probability: { ordinary: 0.35, troubled: 0.2 },
    suits: isShort,
    change: () => ({ settings: { lookback: [20 * MINUTE, 90 * MINUTE], sweepInterval: 300 }, reloads: true }),
  },
  changingPageSize: {
    probability: { ordinary: 0.2, troubled: 0.2 },
    change: () => ({ settings: { pageSizes: [10, 20, 50] }, reloads: true }),
  },
  /** New calls come in anywhere, behind a block of calls that never end and below imports. */
  order: {
    probability: { calm: 0.25, ordinary: 0.35, troubled: 0.25 },
    change: (run, stream) => {
      const order = pick(stream, ['type', 'startedAt', 'endedAt', 'inserted'])
      const settings = { ...evicting(run, stream), pageSizes: run.reloads ? [10, 20] : [pick(stream, [10, 20, 50])] }
      if (order === 'endedAt') {
        // Enough of them to fill the first pages, and calls that come and go between two polls below them.
        return {
          settings: { ...settings, pageSizes: [10] },
          standing: { order },
          pastFacts: { stuck: 0.3 },
          facts: { swift: 0.6 },
        }
      }
      if (order !== 'inserted') return { settings, standing: { order } }
      return { settings, standing: { order, imports: between(stream, 2, 8) }, facts: { swift: 0.6 } }
    },
  },
  imports: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.1 },
    change: (_run, stream) => ({ standing: { imports: between(stream, 1, 6) } }),
  },
  /** Reached by the history alone. */
  totalCap: {
    probability: 0.15,
    change: (run, stream) => ({
      settings: evicting(run, stream),
      standing: { total: 'given', totalCap: whole(stream, 40, 150) },
    }),
  },
  /**
   * Together never older than two intervals, so that no two polls in a row show a call further back than it is; not at
   * the set-up, where a final call would be seen open.
   */
  stale: {
    probability: { calm: 0.3, ordinary: 0.15, troubled: 0.15 },
    change: (_run, stream) => {
      const cacheSeconds = chance(stream, 0.7) ? whole(stream, 2, 5) : 0
      const replicaLag = cacheSeconds === 0 || chance(stream, 0.5) ? whole(stream, 2, 22) : 0
      const age = chance(stream, 0.5) ? 'given' : 'absent'
      return { spells: [{ from: 2 * MINUTE, to: Infinity, switches: { cacheSeconds, replicaLag, age } }] }
    },
  },
  /** By an hour, by some, or the year 2100. Expected is the set-up by the clock that the calls' times are from. */
  wrongDates: {
    probability: { ordinary: 0.18, troubled: 0.18 },
    change: (_run, stream) => {
      const wrongDateOffset = pick(stream, [HOUR, HOUR * whole(stream, 2, 12), IN_2100, -HOUR, -2 * HOUR])
      return { standing: { date: 'given', wrongDates: whole(stream, 1, 4), wrongDateOffset } }
    },
  },
  /** For longer than the lookback the list is empty, or shows less than half of the calls: only its total shows it. */
  indexed: {
    probability: { ordinary: 0.12, troubled: 0.12 },
    suits: ({ standing }) => standing.totalCap === undefined,
    change: (run, stream, { seconds }) => {
      const settings = isShort(run) ? run.settings : { ...run.settings, ...shortLookback(stream, 30) }
      const from = between(stream, 0.2, 0.35) * seconds
      const to = from + settings.lookback[1] + between(stream, 20, 45) * MINUTE
      const indexed = chance(stream, 0.5) ? 0 : between(stream, 0.1, 0.4)
      return { settings, spells: [{ from, to, switches: { indexed } }], standing: { total: 'given' }, outages: false }
    },
  },
  /** No call within the lookback is behind the deepest page, and now and then the oldest leave. */
  farEnd: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.1 },
    change: (run, stream, { toShow }) => ({
      settings: { ...evicting(run, stream), pageSizes: [20] },
      // A call that was open at the set-up and is behind the deepest page was never seen.
      pastFacts: { stuck: 0 },
      standing: {
        order: 'newest',
        perPage: 'honoured',
        deepPages: pick(stream, ['refused', 'hang', 'empty', 'repeated']),
        mostListed: chance(stream, 0.6) ? Math.max(whole(stream, 180, 220), toShow + MOST_OPEN) : 'all',
        // Those that were open at the set-up come after all that began since.
        deepestPage: Math.max(whole(stream, 6, 8), Math.ceil((toShow + MOST_OPEN) / 20)),
        imports: 0,
      },
    }),
  },
  /** Pages get longer and the list gets shorter, so that the last page that was known is no more. */
  pastLast: {
    probability: { calm: 0.1, ordinary: 0.12, troubled: 0.12 },
    // What leaves the list while its index is rebuilt, no poll can see any more.
    suits: (run) => isReadToItsEnd(run) && !run.hazards.includes('indexed'),
    change: (run, stream, { seconds, toShow }) => {
      const pastLast = chance(stream, 0.5) ? 404 : 400
      const total = chance(stream, 0.7) ? ({ total: 'given' } as const) : {}
      const switches = { mostListed: Math.max(whole(stream, 110, 160), toShow) }
      return {
        standing: { ...total, order: 'oldest', perPage: 'honoured', pastLast },
        spells: [{ from: between(stream, 0.2, 0.6) * seconds, to: Infinity, switches }],
        ...(run.kind === 'calm' ? {} : { settings: { pageSizes: [10, 20, 50] }, reloads: true }),
      }
    },
  },
  hiddenRows: {
    probability: 0.12,
    suits: ({ hazards }) => !hazards.includes('indexed'),
    change: (_run, stream) => ({
      standing: chance(stream, 0.7) ? { total: 'given', hiddenRows: whole(stream, 1, 5) } : { total: 'pages' },
    }),
  },
  /** Such a call is shown open again for as long as many sweeps take, on a list that is read back to before its beginning. */
  reopened: {
    probability: { ordinary: 0.3, troubled: 0.3 },
    suits: ({ hazards, standing }) =>
      !['changingLookback', 'indexed', 'lowLimit'].some((name) => hazards.includes(name)) &&
      standing.order === undefined,
    change: ({ settings: { lookback } }) => ({
      settings: {
        lookback: [Math.max(4 * HOUR, lookback[0]), Math.max(4 * HOUR, lookback[1])],
        sweepInterval: 300,
      },
      pastFacts: { reopened: 0.6 },
      mostIntensity: 0.4,
      outages: false,
    }),
  },
  /** A call that lacks its other times in an answer as well would be one without any: all of them are shown. */
  endedAhead: {
    probability: { ordinary: 0.12, troubled: 0.12 },
    suits: ({ hazards }) => !['reopened', 'lowLimit'].some((name) => hazards.includes(name)),
    change: (run, stream) => ({
      settings: isShort(run) ? {} : shortLookback(stream, 30),
      pastFacts: { ended_ahead: 0.15 },
      facts: { ended_ahead: 0.15 },
      odd: { fields: 0 },
      // Where a list is read back to the lookback alone, an evicted call is not seen again.
      standing: run.standing.order === undefined && chance(stream, 0.6) ? { order: 'shuffled' } : {},
      // Where the first poll comes late, the end of a call that was over before the set-up looks like one after it.
      outages: false,
    }),
  },
  bigIds: {
    probability: 0.12,
    change: () => ({ pastFacts: { big_id: 0.5 }, facts: { big_id: 0.5 } }),
  },
  doubledRows: {
    probability: { ordinary: 0.15, troubled: 0.15 },
    change: (run) => ({
      // Shuffled, a list that shows fewer ids than rows never shows that those were all.
      standing: run.standing.order === undefined ? { order: 'newest' } : {},
      pastFacts: { doubled: 0.1 },
      facts: { doubled: 0.1 },
    }),
  },
  /** Rows are deleted during the run; never those of calls that are tracked, or whose end is yet to become plausible. */
  trimmedHistory: {
    probability: { calm: 0.1, ordinary: 0.15, troubled: 0.15 },
    suits: ({ hazards }) => !hazards.includes('endedAhead'),
    change: (run, stream) => {
      const isLong = run.kind === 'ordinary' && !isShort(run) && !run.hazards.includes('reopened')
      const lookback = isLong ? shortLookback(stream) : {}
      return { settings: { ...lookback, retention: whole(stream, 30, 90) * MINUTE } }
    },
  },
  stuck: {
    probability: 0.1,
    // A call that was open at the set-up and is behind the deepest page was never seen.
    suits: isReadToItsEnd,
    change: (_run, stream) => ({
      pastFacts: { stuck: 0.15 },
      facts: { stuck: chance(stream, 0.5) ? 0.05 : 0 },
    }),
  },
  ...pageHazards,
  /** The host's clock is wrong, and now and then an answer does not show the service's. */
  hostClock: {
    probability: { ordinary: 0.04, troubled: 0.04 },
    suits: ({ hazards }) => !hazards.includes('wrongDates'),
    change: (_run, stream) => ({
      // If it is behind by more than an hour, nothing is counted for an hour after each start, which is longer than a short run.
      hostAhead: chance(stream, 0.5) ? whole(stream, 600, 7200) : -whole(stream, 600, 3500),
      standing: { date: chance(stream, 0.5) ? 'sometimes' : 'given', dateOffset: 0 },
    }),
  },
  /** Hundreds of calls begin together, on pages of which few can be read in a poll. */
  slowBurst: {
    probability: { calm: 0.03, ordinary: 0.04, troubled: 0.04 },
    suits: ({ hazards, standing }) => standing.order === undefined && !hazards.includes('lowLimit'),
    change: (_run, stream, { seconds }) => ({
      bursts: [{ at: between(stream, 0.3, 0.5) * seconds, calls: whole(stream, 150, 300), seconds: 60 }],
      settings: { pageSizes: [10] },
      standing: {
        order: chance(stream, 0.5) ? 'oldest' : 'newest',
        answerSeconds: between(stream, 3, 8),
        perPage: 'honoured',
        total: 'given',
      },
      mostIntensity: 0.2,
      outages: false,
    }),
  },
  reusedIds: {
    probability: 0.04,
    // Such a call may begin while another one of a group's session is open.
    suits: ({ hazards }) => !hazards.includes('sessions'),
    // A call that rings has no mid: nothing but its start, which is right and in each answer, tells it from the one before.
    change: () => ({ standing: { reusedIds: 0.3 }, facts: { swift: 0.4, near_future: 0 }, odd: { fields: 0 } }),
  },
  /**
   * The reverse of a replica that lags: lists are current. Where the next call of a session replaces a row, such an answer shows the
   * call before it as it was, which is in no list.
   */
  getCallLag: {
    probability: 0.04,
    // The replay of a calm run does not know that many calls of a poll which are unknown are none.
    suits: ({ kind, hazards, standing }) =>
      standing.listedAs !== 'B' && (kind !== 'calm' || !hazards.includes('farEnd')),
    change: (_run, stream) => ({ standing: { getCallLag: whole(stream, 20, 600) } }),
  },
  /** One of many servers has a clock of its own: now and then an answer is hours or decades ahead, or behind. */
  oddDates: {
    probability: { ordinary: 0.05, troubled: 0.05 },
    suits: ({ standing }) => standing.wrongDates === undefined && standing.wrongDateOffset === undefined,
    change: (_run, stream) => {
      const wrongDateOffset = pick(stream, [2 * HOUR, IN_2100, -2 * HOUR])
      return { spells: [{ from: 600, to: Infinity, switches: { oddDates: 0.02, wrongDateOffset } }] }
    },
  },
  /** From the start or from some time on, while finished calls are deleted after 90 minutes: none may be deleted earlier. */
  hostFarAhead: {
    probability: { ordinary: 0.05, troubled: 0.05 },
    suits: ({ hazards }) =>
      !['wrongDates', 'oddDates', 'hostClock', 'endedAhead'].some((name) => hazards.includes(name)),
    change: (_run, stream, { seconds }) => ({
      settings: { ...shortLookback(stream, 30), retention: 90 * MINUTE },
      hostAhead: 60 * DAY,
      hostAheadFrom: chance(stream, 0.5) ? 0 : 0.5 * seconds,
      standing: { date: 'given', dateOffset: 0 },
    }),
  },
  /** The service's clock is far ahead for a while: at the start, and later. A call that leaves the list meanwhile is never seen. */
  farDates: {
    probability: { ordinary: 0.05, troubled: 0.05 },
    suits: (run) =>
      ![
        'wrongDates',
        'oddDates',
        'hostClock',
        'endedAhead',
        'hostFarAhead',
        'pastLast',
        'farEnd',
        'indexed',
        'lowLimit',
        'slowBurst',
      ].some((name) => run.hazards.includes(name)),
    change: (_run, stream, { seconds }) => {
      const spells = [0, 0.4 * seconds].map((from) => {
        const dateOffset = pick(stream, [...(from === 0 ? [2 * HOUR, 12 * HOUR] : []), 25 * HOUR, 365 * DAY])
        return { from, to: from + whole(stream, 20, 20 * MINUTE), switches: { dateOffset } }
      })
      return { settings: shortLookback(stream), standing: { date: 'given' }, spells }
    },
  },
  /** A new app: no call in the past, and none for a while. */
  newApp: {
    probability: 0.05,
    suits: ({ hazards }) => hazards.every((name) => name === 'sessions'),
    change: ({ past }, stream) => ({
      past: { ...past, history: 0, open: 0 },
      standing: { emptyList: pick(stream, ['null', 204, 404]), imports: 0 },
      spells: [{ from: 0, to: HOUR, switches: { arrivals: false } }],
      outages: false,
    }),
  },
  /** Alerts that are silenced, muted and inhibited for a part of their time or all of it, while receivers are in back-off. */
  suppressed: {
    probability: 0.3,
    // Silences and mutes are by the host's clock; bursts are calls.
    suits: ({ hazards }) => !['hostFarAhead', 'farDates', 'newApp'].some((name) => hazards.includes(name)),
    change: (_run, stream, { seconds }) => {
      const ats: number[] = []
      for (let at = between(stream, 100, 600); at < seconds; at += between(stream, 15, 40) * MINUTE) ats.push(at)
      const failing = { unanswered: 3, rejected: 1 }
      return {
        suppresses: true,
        // A newest page with three misdated calls shows no order, and there are no arrivals to move them off it once all is healed.
        facts: { near_future: 0 },
        bursts: ats.map((at) => ({ at, calls: whole(stream, 20, 60), seconds: 90, outcomes: failing })),
      }
    },
  },
  /** Calls begin while the second page of the first reading fails. */
  failingSync: {
    probability: 0.05,
    suits: isReadToItsEnd,
    change: (_run, stream) => ({
      settings: { pageSizes: [pick(stream, [10, 20])] },
      standing: { order: 'newest', perPage: 'honoured', total: 'given' },
      bursts: [{ at: 0, calls: 5, seconds: 4 }],
      spells: [
        {
          from: 0,
          to: between(stream, 4, 12),
          switches: { deepestPage: 1, deepPages: pick(stream, ['unavailable', 'hang']) },
        },
      ],
      outages: false,
    }),
  },
  /** Calls begin faster than pages are answered. */
  busyPages: {
    probability: 0.04,
    suits: ({ hazards, standing }) => standing.order === undefined && !hazards.includes('lowLimit'),
    change: (_run, stream, { seconds }) => ({
      settings: { pageSizes: [pick(stream, [10, 20])], sweepInterval: 300 },
      standing: {
        order: chance(stream, 0.5) ? 'oldest' : 'newest',
        answerSeconds: between(stream, 0.15, 0.4),
        perPage: 'honoured',
        total: 'given',
      },
      bursts: [0.2, 0.5, 0.7].map((share) => ({ at: share * seconds, calls: 400, seconds: 400 })),
      outages: false,
    }),
  },
  /** The last page is often full, and the one after it fails in some way. */
  failingPastLast: {
    probability: 0.05,
    suits: isReadToItsEnd,
    change: (run, stream) => {
      const pastLast = pick(stream, [500, 'error_200', 'null', 'reset'])
      const standingOrder =
        run.standing.order === undefined ? { order: pick(stream, ['oldest', 'newest', 'ties']) } : {}
      return {
        settings: { pageSizes: [10] },
        standing: { ...standingOrder, perPage: 'honoured', total: 'given', pastLast },
      }
    },
  },
  /** The count is made every few seconds. */
  cachedTotal: {
    probability: 0.05,
    change: (_run, stream) => ({
      settings: { pageSizes: [pick(stream, [10, 20])] },
      standing: {
        total: 'given',
        totalCacheSeconds: whole(stream, 5, 30),
        ...(chance(stream, 0.5) ? { order: 'newest' } : {}),
      },
    }),
  },
  /** The service is down while a reading goes on that takes several polls. */
  downAmidReading: {
    probability: 0.04,
    suits: ({ hazards, standing }) =>
      standing.order === undefined && standing.deepestPage === undefined && !hazards.includes('lowLimit'),
    change: (_run, stream, { seconds }) => {
      const at = between(stream, 0.3, 0.5) * seconds
      const from = at + whole(stream, 60, 90)
      return {
        bursts: [{ at, calls: whole(stream, 150, 300), seconds: 60 }],
        settings: { pageSizes: [10] },
        standing: {
          order: chance(stream, 0.5) ? 'oldest' : 'newest',
          answerSeconds: between(stream, 3, 8),
          perPage: 'honoured',
          total: 'given',
          duplicates: 0,
        },
        spells: [{ from, to: from + whole(stream, 3, 10) * MINUTE, switches: { outage: true } }],
        mostIntensity: 0.2,
        outages: false,
      }
    },
  },
  /** Many of which come too late, twice, for nothing or not at all. */
  webhooks: {
    probability: 0.5,
    // Hinted requests discard what a call was before, and that it is unknown; the replay of a calm run does not know which answers are theirs.
    suits: ({ kind, hazards }) => kind !== 'calm' || !hazards.includes('getCallLag'),
    change: ({ kind }, stream) => {
      const faults = ['lost', 'late', 'twice', 'reordered', 'other_app', 'forged'] as const
      const webhookFault = Object.fromEntries(faults.map((fault) => [fault, between(stream, 0, 0.16)]))
      return { sendsWebhooks: true, standing: { webhookFault }, facts: kind === 'calm' ? { set_back: 0 } : {} }
    },
  },
  /**
   * The service is away for longer than the lookback, and then one reading or two end early: at a page without calls, at pages that
   * fail, or at the first page instead of others.
   */
  longOutage: {
    probability: { ordinary: 0.15, troubled: 0.1 },
    isAlone: true,
    // Where no clock can be used at first, the first poll is later than such a lookback.
    suits: ({ hazards }) => !hazards.includes('farDates'),
    change: ({ kind }, stream, { seconds }) => {
      const lookback = whole(stream, 5, 8) * MINUTE
      const from = between(stream, 0.2, 0.3) * seconds
      const to = from + lookback + between(stream, 3, 6) * MINUTE
      const early = pick(stream, [
        { emptyPages: 0.3 },
        { firstPages: 1 },
        { deepestPage: whole(stream, 1, 3), deepPages: 'unavailable' as const },
      ])
      return {
        settings: { lookback: always(lookback), sweepInterval: 120, pageSizes: [10] },
        standing: {
          order: pick(stream, ['newest', 'newest', 'oldest', 'ties']),
          // Whether replayed answers are the whole list is known by the total alone.
          total: kind === 'calm' ? 'given' : pick(stream, ['given', 'absent', 'zero', 'pages']),
          perPage: 'honoured',
          listedSeconds: 'forever',
          mostListed: 'all',
          deepestPage: 'any',
          imports: 0,
        },
        spells: [
          { from, to, switches: { outage: true } },
          { from: to, to: to + between(stream, 10, 150), switches: early },
        ],
        // Corrections come in for longer than such a lookback.
        facts: { corrected: 0, recorded_late: 0 },
        odd: { fields: 0 },
        mostIntensity: 0.3,
        outages: false,
      }
    },
  },
  /** At the very first start the host's clock is days behind, and it is set before the first answer, or before the first that is believed. */
  hostSetLate: {
    probability: 0.3,
    // Silences, mutes, the ages of what is deleted, and when a webhook was heard are by the host's clock.
    suits: ({ hazards }) =>
      ![
        'wrongDates',
        'oddDates',
        'hostClock',
        'hostFarAhead',
        'farDates',
        'suppressed',
        'trimmedHistory',
        'webhooks',
      ].some((name) => hazards.includes(name)),
    change: ({ kind }, stream, { seconds }) => {
      const to = between(stream, 0.02, 0.15) * seconds
      // The replay of a calm run does not know of the host's clock.
      const isDown = kind === 'calm' || chance(stream, 0.5)
      return {
        hostAhead: -whole(stream, 1, 30) * DAY,
        hostAheadTo: to,
        standing: { date: 'given', dateOffset: 0 },
        spells: [{ from: 0, to: to + between(stream, 0.01, 0.1) * seconds, switches: { outage: isDown } }],
      }
    },
  },
  /** Participants come with Get Call alone, and some calls have none there either. */
  unlistedParticipants: {
    probability: 0.15,
    change: () => ({ standing: { listedParticipants: 'absent' }, facts: { without_participants: 0.1 } }),
  },
} satisfies Record<string, Hazard>

type HazardName = keyof typeof hazards

export function isHazardName(name: string): name is HazardName {
  return Object.hasOwn(hazards, name)
}
