import { isEnd, triggersOf, type Hint } from '../ledger/hint.ts'
import { COUNTERS, seriesKey } from '../ledger/series.ts'
import type { Delta, LedgerState, SyncState } from '../ledger/state.ts'
import { MARK, type Finish, type TrackedCall } from '../ledger/tracked-call.ts'
import { recentShare } from './recent-share.ts'

/**
 * Ends that wait for their webhook, by the id of the call; ends that are counted; after how many seconds each webhook came; how
 * many webhooks did not come; and calls that webhooks named, and that no poll has shown.
 */
export type CountedEnds = {
  waiting: Map<string, End>
  done: string[]
  lags: number[]
  missed: number
  unlisted: string[]
}

/** When a call ended, by the host's clock, and how. */
type End = { at: number; finish: Finish }

/** How long before and after an end its webhook is listened for (seconds). */
const WINDOW_SECONDS = 60
/** Of more hints, the oldest are dropped. */
const MAX_HINTS = 10_000
const DAY = 86_400
/** For how long a trigger that came with the id of a call is expected to come again (seconds). */
const EXPECTED_SECONDS = 30 * DAY

export type AnnouncedEnds = ReturnType<typeof announcedEnds>

/**
 * Whether webhooks announced the ends of calls that the service showed, and whether the service showed the calls that they named.
 *
 * An end is announced if its webhook came until a minute after it. It is unknown if this daemon did not listen from a minute before
 * it until then, or if no webhook with the trigger of such an end has named its call in the last 30 days: an app need not send them
 * all, and the samples of calls that failed have no id.
 *
 * @param since when this daemon began to listen, as it is known now (UNIX seconds by the host's clock)
 * @param monotonic seconds
 */
export function announcedEnds(ledger: LedgerState, since: () => number, monotonic: () => number) {
  const recent = recentShare(monotonic)
  /** When the webhook of each end came, and the first one about a call that no poll has shown. */
  const noted = new Map<string, number>()
  const unseen = new Map<string, number>()
  let triggers: NonNullable<SyncState['webhooks']> = {}
  let waiting = new Map(uncountedEnds(ledger))

  function outcomeOf(id: string, { at: ended, finish }: End, now: number): 'yes' | 'no' | 'unknown' | undefined {
    const at = noted.get(id)
    if (at !== undefined && at <= ended + WINDOW_SECONDS) return 'yes'
    if (now <= ended + WINDOW_SECONDS) return undefined
    const isExpected = triggersOf(finish).some((one) => now - (triggers[one] ?? -Infinity) <= EXPECTED_SECONDS)
    return isExpected && since() <= ended - WINDOW_SECONDS ? 'no' : 'unknown'
  }

  return {
    /** Notes a hint at a time (UNIX seconds by the host's clock). */
    note: ({ id, trigger }: Hint, now: number, { calls }: Pick<LedgerState, 'calls'>) => {
      triggers = { ...triggers, any: now, ...(id !== undefined && { [trigger]: now }) }
      if (id === undefined) return
      if (trigger !== 'other' && !calls.has(id)) addFirst(unseen, id, now)
      if (isEnd({ trigger })) addFirst(noted, id, now)
    },
    /**
     * Counts the ends of a delta, and earlier ones that waited for their webhook, in the delta. Apply the result once it is
     * committed.
     *
     * @param lookback how long a call that a webhook named may take to be shown (seconds)
     */
    count: (delta: Delta, { calls, sync }: LedgerState, now: number, lookback: number): CountedEnds => {
      triggers = { ...sync.webhooks, ...triggers }
      if (hasNews(sync.webhooks, triggers)) delta.sync = { ...delta.sync, webhooks: triggers }
      for (const id of unseen.keys()) if (calls.has(id) || delta.calls.has(id)) unseen.delete(id)
      const unlisted = [...unseen].flatMap(([id, at]) => (now - at > lookback ? [id] : []))
      const counted: CountedEnds = { waiting: new Map(), done: [], lags: [], missed: 0, unlisted }
      for (const [id, end] of [...waiting, ...endsIn(delta)]) {
        const outcome = outcomeOf(id, end, now)
        if (outcome === undefined) {
          counted.waiting.set(id, end)
          continue
        }
        counted.done.push(id)
        const key = seriesKey(COUNTERS.webhookEnds, outcome)
        delta.counters.set(key, (delta.counters.get(key) ?? 0) + 1)
        const call = delta.calls.get(id) ?? calls.get(id)
        if (call !== undefined) delta.calls.set(id, { ...call, marks: call.marks | MARK.endCounted })
        if (outcome === 'no') counted.missed += 1
        if (outcome === 'yes') counted.lags.push(Math.max(0, noted.get(id)! - end.at))
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
      for (const [id, end] of counted.waiting) waiting.set(id, end)
      for (const id of counted.unlisted) unseen.delete(id)
      for (const id of counted.done) {
        waiting.delete(id)
        noted.delete(id)
      }
    },
  }
}

/** Adds when something happened first; of more ids than are kept, the oldest is dropped. */
function addFirst(times: Map<string, number>, id: string, now: number): void {
  if (times.has(id)) return
  if (times.size >= MAX_HINTS) times.delete(times.keys().next().value!)
  times.set(id, now)
}

/** Whether a trigger came that had not come for a day. */
function hasNews(stored: SyncState['webhooks'] = {}, triggers: NonNullable<SyncState['webhooks']>): boolean {
  const before: Readonly<Record<string, number | undefined>> = stored
  return Object.entries(triggers).some(([name, at]) => at - (before[name] ?? -Infinity) > DAY)
}

/** The ends of calls that a delta shows first as finished. */
function endsIn({ calls, finishes, sync }: Delta): [id: string, end: End][] {
  const finished = new Set(finishes)
  return [...calls.values()].flatMap((call) =>
    call.finish !== undefined && finished.has(call.finish) ? endOf(call, sync.clockSkew) : [],
  )
}

/** The ends that an earlier process found, but had not counted; also those of a first poll that it did not complete. */
function uncountedEnds({ calls, sync: { lastSuccess = -Infinity, clockSkew } }: LedgerState): [string, End][] {
  const oldest = lastSuccess - WINDOW_SECONDS
  return [...calls.values()].flatMap((call) =>
    call.finish !== undefined && call.finish.at > oldest && (call.marks & MARK.endCounted) === 0
      ? endOf(call, clockSkew)
      : [],
  )
}

/** None for a call that had ended when the target was created. */
function endOf({ id, finish, marks }: TrackedCall, clockSkew = 0): [id: string, end: End][] {
  return (marks & MARK.overAtSetUp) === 0 ? [[id, { at: finish!.at - clockSkew, finish: finish! }]] : []
}
