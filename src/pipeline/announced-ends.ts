import { COUNTERS, seriesKey } from '../ledger/series.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { recentShare } from './recent-share.ts'

/**
 * Ends that wait for their webhook, by the id of the call; ends that are counted; after how many seconds each webhook came; and how
 * many webhooks did not come.
 */
export type CountedEnds = { waiting: Map<string, number>; done: string[]; lags: number[]; missed: number }

/** How long before and after an end its webhook is listened for (seconds). */
const WINDOW_SECONDS = 60
/** Of more hints, the oldest are dropped. */
const MAX_HINTS = 10_000

export type AnnouncedEnds = ReturnType<typeof announcedEnds>

/**
 * Whether webhooks announced the ends of calls that the service showed.
 *
 * An end is announced if its webhook came until a minute after it. It is unknown if this daemon did not listen from a minute before
 * it until then.
 *
 * @param since when this daemon began to listen, as it is known now (UNIX seconds by the host's clock)
 * @param monotonic seconds
 */
export function announcedEnds(ledger: LedgerState, since: () => number, monotonic: () => number) {
  const recent = recentShare(monotonic)
  /** When the webhook of each end came. */
  const noted = new Map<string, number>()
  let waiting = new Map(uncountedEnds(ledger))

  function outcomeOf(id: string, ended: number, now: number): 'yes' | 'no' | 'unknown' | undefined {
    const at = noted.get(id)
    if (at !== undefined && at <= ended + WINDOW_SECONDS) return 'yes'
    if (now <= ended + WINDOW_SECONDS) return undefined
    return since() <= ended - WINDOW_SECONDS ? 'no' : 'unknown'
  }

  return {
    /** Notes a hint of an end at a time (UNIX seconds by the host's clock). */
    note: (id: string, now: number) => {
      if (noted.has(id)) return
      if (noted.size >= MAX_HINTS) noted.delete(noted.keys().next().value!)
      noted.set(id, now)
    },
    /** Counts the ends of a delta, and earlier ones that waited for their webhook, in the delta. Apply the result once it is committed. */
    count: (delta: Delta, { calls }: LedgerState, now: number): CountedEnds => {
      const counted: CountedEnds = { waiting: new Map(), done: [], lags: [], missed: 0 }
      for (const [id, ended] of [...waiting, ...endsIn(delta)]) {
        const outcome = outcomeOf(id, ended, now)
        if (outcome === undefined) {
          counted.waiting.set(id, ended)
          continue
        }
        counted.done.push(id)
        const key = seriesKey(COUNTERS.webhookEnds, outcome)
        delta.counters.set(key, (delta.counters.get(key) ?? 0) + 1)
        const call = delta.calls.get(id) ?? calls.get(id)
        if (call !== undefined) delta.calls.set(id, { ...call, marks: call.marks | MARK.endCounted })
        if (outcome === 'no') counted.missed += 1
        if (outcome === 'yes') counted.lags.push(Math.max(0, noted.get(id)! - ended))
      }
      return counted
    },
    /** The ends that were counted in the last seconds, and those of them that no webhook announced; without unknown ones. */
    within: recent.within,
    /** Call it when the ledger was loaded again: it may have commits that were not applied. */
    reload: (loaded: LedgerState) => {
      waiting = new Map(uncountedEnds(loaded))
    },
    apply: (counted: CountedEnds) => {
      recent.add(counted.lags.length + counted.missed, counted.missed)
      for (const [id, ended] of counted.waiting) waiting.set(id, ended)
      for (const id of counted.done) {
        waiting.delete(id)
        noted.delete(id)
      }
    },
  }
}

/** When calls ended that a delta shows first as finished, by the host's clock. */
function endsIn({ calls, finishes, sync }: Delta): [id: string, ended: number][] {
  const finished = new Set(finishes)
  return [...calls.values()].flatMap((call) =>
    call.finish !== undefined && finished.has(call.finish) ? endOf(call, sync.clockSkew) : [],
  )
}

/** The ends that an earlier process found, but had not counted; also those of a first poll that it did not complete. */
function uncountedEnds({ calls, sync: { lastSuccess = -Infinity, clockSkew } }: LedgerState): [string, number][] {
  const oldest = lastSuccess - WINDOW_SECONDS
  return [...calls.values()].flatMap((call) =>
    call.finish !== undefined && call.finish.at > oldest && (call.marks & MARK.endCounted) === 0
      ? endOf(call, clockSkew)
      : [],
  )
}

/** None for a call that had ended when the target was created. */
function endOf({ id, finish, marks }: TrackedCall, clockSkew = 0): [id: string, ended: number][] {
  return (marks & MARK.overAtSetUp) === 0 ? [[id, finish!.at - clockSkew]] : []
}
