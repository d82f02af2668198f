import { announcingTriggers, END_TRIGGERS, isEnd, type Hint } from '../ledger/hint.ts'
import { sessionOf } from '../ledger/identity.ts'
import { COUNTERS, seriesKey } from '../ledger/series.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import { MARK, type Finish, type TrackedCall } from '../ledger/tracked-call.ts'
import { heardTriggers } from './heard-triggers.ts'
import { recentShare } from './recent-share.ts'

/**
 * Ends that wait for their webhook, by the id of the call; ends that are counted; after how many seconds each webhook came; how
 * many webhooks did not come; and sessions that webhooks named, and that no poll has shown.
 */
export type CountedEnds = {
  waiting: Map<string, End>
  done: [id: string, end: End][]
  lags: number[]
  missed: number
  unlisted: string[]
}

/** When a call of a session ended, by the host's clock, and how. */
type End = { session: string; at: number; finish: Finish }

/** How long before and after an end its webhook is listened for (seconds). */
const WINDOW_SECONDS = 60
/** How long after an end its webhook may come late or twice (seconds). */
const LATE_SECONDS = 600
/** Of more hints, the oldest are dropped. */
const MAX_HINTS = 10_000

export type AnnouncedEnds = ReturnType<typeof announcedEnds>

/**
 * Whether webhooks announced the ends of calls that the service showed, and whether the service showed the calls that they named.
 *
 * An end is announced if its webhook came until a minute after it. It is unknown if this daemon did not listen from a minute before
 * it until then, or if no webhook with the trigger of such an end had named its call before, in the last 30 days: an app need not send
 * them all, and the samples of calls that failed have no id.
 *
 * @param since when this daemon began to listen, as it is known now (UNIX seconds by the host's clock)
 * @param monotonic seconds
 */
export function announcedEnds(ledger: LedgerState, since: () => number, monotonic: () => number) {
  const recent = recentShare(monotonic)
  /** When each trigger of an end first came for a session, and the first webhook about a session that no poll has shown. */
  const noted = new Map<string, number>()
  const unseen = new Map<string, number>()
  const triggers = heardTriggers(ledger)
  let waiting = new Map(uncountedEnds(ledger))

  /** When the webhook of an end came; Infinity if it did not. */
  const announcedAt = ({ session, finish }: End) =>
    Math.min(...announcingTriggers(finish).map((one) => noted.get(`${one} ${session}`) ?? Infinity))

  function outcomeOf(end: End, now: number): 'yes' | 'no' | 'unknown' | undefined {
    if (announcedAt(end) <= end.at + WINDOW_SECONDS) return 'yes'
    if (now <= end.at + WINDOW_SECONDS) return undefined
    const isExpected = triggers.areExpected(end.finish, end.at, now)
    return isExpected && since() <= end.at - WINDOW_SECONDS ? 'no' : 'unknown'
  }

  return {
    /** Notes a hint at a time (UNIX seconds by the host's clock). */
    note: (hint: Hint, now: number, { calls }: Pick<LedgerState, 'calls'>) => {
      triggers.note(hint, now)
      const { id, trigger } = hint
      if (id === undefined) return
      const known = calls.ofSession(id)
      if (trigger !== 'other' && known.length === 0) addFirst(unseen, id, now)
      if (isEnd({ trigger }) && !isLate(id, known, waiting, now)) addFirst(noted, `${trigger} ${id}`, now)
    },
    /**
     * Counts the ends of a delta, and earlier ones that waited for their webhook, in the delta. Changes nothing else: apply the
     * result once it is committed.
     *
     * @param patience how long a session that a webhook named may take to be shown (seconds); Infinity before the end of a poll
     */
    count: (delta: Delta, { calls }: LedgerState, now: number, patience: number): CountedEnds => {
      triggers.addTo(delta)
      const shown = new Set(delta.calls.values().map(sessionOf))
      const isShown = (session: string) => shown.has(session) || calls.ofSession(session).length > 0
      const unlisted = [...unseen].flatMap(([id, at]) => (now - at > patience && !isShown(id) ? [id] : []))
      const counted: CountedEnds = { waiting: new Map(), done: [], lags: [], missed: 0, unlisted }
      for (const [id, end] of [...waiting, ...endsIn(delta)]) {
        const outcome = outcomeOf(end, now)
        if (outcome === undefined) {
          counted.waiting.set(id, end)
          continue
        }
        counted.done.push([id, end])
        countEnd(delta, delta.calls.get(id) ?? calls.get(id), outcome)
        if (outcome === 'no') counted.missed += 1
        if (outcome === 'yes') counted.lags.push(Math.max(0, announcedAt(end) - end.at))
      }
      return counted
    },
    /** The ends that were counted in the last seconds, and those of them that no webhook announced; without unknown ones. */
    within: recent.within,
    /** Call it when the ledger was loaded again: it may have commits that were not applied. */
    reload: (loaded: LedgerState) => {
      waiting = new Map(uncountedEnds(loaded))
      triggers.reload(loaded)
    },
    /** @param ledger after the commit */
    apply: (counted: CountedEnds, { calls }: LedgerState) => {
      recent.add(counted.lags.length + counted.missed, counted.missed)
      for (const [id, end] of counted.waiting) waiting.set(id, end)
      for (const id of unseen.keys())
        if (counted.unlisted.includes(id) || calls.ofSession(id).length > 0) unseen.delete(id)
      for (const [id, { session }] of counted.done) {
        waiting.delete(id)
        for (const one of END_TRIGGERS) noted.delete(`${one} ${session}`)
      }
    },
  }
}

/** A webhook that comes late or twice must not announce the end of the next call of its session. */
function isLate(
  session: string,
  calls: readonly TrackedCall[],
  waiting: ReadonlyMap<string, End>,
  now: number,
): boolean {
  const isOver = ({ finish }: TrackedCall) => finish !== undefined && now - finish.knownHostTime < LATE_SECONDS
  if (!calls.some(isOver) || calls.some(({ phase }) => phase === 'open')) return false
  return !waiting.values().some((end) => end.session === session)
}

/** Adds when something happened first; of more ids than are kept, the oldest is dropped. */
function addFirst(times: Map<string, number>, id: string, now: number): void {
  if (times.has(id)) return
  if (times.size >= MAX_HINTS) times.delete(times.keys().next().value!)
  times.set(id, now)
}

function countEnd(delta: Delta, call: TrackedCall | undefined, outcome: 'yes' | 'no' | 'unknown'): void {
  const key = seriesKey(COUNTERS.webhookEnds, outcome)
  delta.counters.set(key, (delta.counters.get(key) ?? 0) + 1)
  if (call !== undefined) delta.calls.set(call.id, { ...call, marks: call.marks | MARK.endCounted })
}

/** The ends of calls that a delta shows first as finished. */
function endsIn({ calls, finishes, sync }: Delta): [id: string, end: End][] {
  const finished = new Set(finishes)
  return [...calls.values()].flatMap((call) =>
    call.finish !== undefined && finished.has(call.finish) ? endOf(call, sync.clockSkew) : [],
  )
}

/** The ends that an earlier process found, but had not counted; also those of a first poll that it did not complete. */
function uncountedEnds({ calls, sync: { lastSuccessHostTime = -Infinity, clockSkew } }: LedgerState): [string, End][] {
  // The last commit may have been made some time before the poll succeeded, by another clock of the service.
  const oldest = lastSuccessHostTime - 2 * WINDOW_SECONDS
  return [...calls.values()]
    .flatMap((call) =>
      call.finish !== undefined && (call.marks & MARK.endCounted) === 0 ? endOf(call, clockSkew) : [],
    )
    .filter(([, { at }]) => at > oldest)
}

/** None for a call that had ended when the target was created. */
function endOf(call: TrackedCall, clockSkew = 0): [id: string, end: End][] {
  const finish = call.finish!
  const end = { session: sessionOf(call), at: finish.at - clockSkew, finish }
  return (call.marks & MARK.overAtSetUp) === 0 ? [[call.id, end]] : []
}
