import { announcingTriggers, END_TRIGGERS, expectedTriggers, isEnd, type Hint } from '../ledger/hint.ts'
import { sessionOf } from '../ledger/identity.ts'
import { COUNTERS, seriesKey } from '../ledger/series.ts'
import type { Delta, LedgerState, SyncState } from '../ledger/state.ts'
import { MARK, type Finish, type TrackedCall } from '../ledger/tracked-call.ts'
import { recentShare } from './recent-share.ts'
import type { OpenTargetOptions } from './target.ts'

/**
 * Ends that wait for their webhook, by the id of the call; ends that are counted; after how many seconds each webhook came; how
 * many webhooks did not come; and sessions that webhooks named, and that no poll has shown.
 */
export type WebhookCounts = {
  waiting: Map<string, End>
  done: End[]
  lags: number[]
  missed: number
  unlisted: string[]
}

/** When a call of a session began, if there may be one before it and its times are right, and ended, by the host's clock, and how. */
type End = { session: string; began: number; at: number; finish: Finish }

/** When a webhook came first and last, by its trigger, and any webhook (UNIX seconds by the host's clock). */
type Heard = Readonly<Record<string, readonly [first: number, last: number]>>

const DAY = 86_400
/** How long before and after an end its webhook is listened for (seconds). */
const WINDOW_SECONDS = 60
/** By how much the clocks may differ although their skew is known (seconds). */
const CLOCK_TOLERANCE = 10
/** Of one session, of each trigger. */
const MAX_TIMES = 100
/** What was heard longer ago is forgotten (seconds). */
const MAX_AGE_SECONDS = 7 * DAY
/** For how long a trigger that came with the id of a call is expected to come again (seconds). */
const EXPECTED_SECONDS = 30 * DAY
/** Of more hints, the oldest are dropped. */
const MAX_HINTS = 10_000

export type MissedWebhooks = ReturnType<typeof missedWebhooks>

/** What the webhooks of a target miss; undefined if it accepts none. A target that is loaded again keeps what it has heard. */
export function missedWebhooksOf({ settings, store, clock, before }: OpenTargetOptions, ledger: LedgerState) {
  if (settings.target.webhook === undefined) return undefined
  before?.ends?.reload(ledger)
  const opened = clock.wall()
  // Webhooks may also come to another daemon, which passes them on.
  const since = () => Math.max(opened, store.cluster?.hints.hearsSince() ?? opened)
  return before?.ends ?? missedWebhooks(ledger, since, clock.monotonic)
}

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
function missedWebhooks(ledger: LedgerState, since: () => number, monotonic: () => number) {
  const recent = recentShare(monotonic)
  /** When each trigger of an end came for a session, and webhooks about a session that no poll has shown. */
  const noted = new Map<string, number[]>()
  const unseen = new Map<string, number[]>()
  let heard: Heard = ledger.sync.webhooks ?? {}
  let waiting = uncountedEnds(ledger)

  /** When the webhook of an end came; Infinity if it did not. One of an earlier call of the session may come late or twice. */
  const announcedAt = ({ session, finish, began }: End) => {
    const times = announcingTriggers(finish).flatMap((one) => noted.get(`${one} ${session}`) ?? [])
    return Math.min(Infinity, ...times.filter((at) => at >= began - CLOCK_TOLERANCE))
  }

  function outcomeOf(end: End, now: number): 'yes' | 'no' | 'unknown' | undefined {
    if (announcedAt(end) <= end.at + WINDOW_SECONDS) return 'yes'
    if (now <= end.at + WINDOW_SECONDS) return undefined
    return isExpected(heard, end, now) && since() <= end.at - WINDOW_SECONDS ? 'no' : 'unknown'
  }

  return {
    /** Notes a hint at a time (UNIX seconds by the host's clock). */
    note: ({ id, trigger }: Hint, now: number, { calls }: Pick<LedgerState, 'calls'>) => {
      heard = hear(heard, 'any', now)
      if (id === undefined) return
      heard = hear(heard, trigger, now)
      if (trigger !== 'other' && calls.ofSession(id).length === 0) addTime(unseen, id, now)
      if (isEnd({ trigger })) addTime(noted, `${trigger} ${id}`, now)
    },
    /**
     * Counts the ends of a delta, and earlier ones that waited for their webhook, in the delta. Changes nothing else: apply the
     * result once it is committed.
     *
     * @param patience how long a session that a webhook named may take to be shown (seconds); undefined before the end of a poll
     */
    count: (delta: Delta, { calls }: LedgerState, now: number, patience = Infinity): WebhookCounts => {
      addHeard(delta, heard)
      const shown = new Set(delta.calls.values().map(sessionOf))
      const isShown = (session: string) => shown.has(session) || calls.ofSession(session).length > 0
      const unlisted = [...unseen].flatMap(([id, [at]]) => (now - at! > patience && !isShown(id) ? [id] : []))
      const counts: WebhookCounts = { waiting: new Map(), done: [], lags: [], missed: 0, unlisted }
      for (const [id, end] of [...waiting, ...endsIn(delta)]) {
        const outcome = outcomeOf(end, now)
        if (outcome === undefined) {
          counts.waiting.set(id, end)
          continue
        }
        counts.done.push(end)
        countEnd(delta, delta.calls.get(id) ?? calls.get(id), outcome)
        if (outcome === 'no') counts.missed += 1
        if (outcome === 'yes') counts.lags.push(Math.max(0, announcedAt(end) - end.at))
      }
      return counts
    },
    /** The ends that were counted in the last seconds, and those of them that no webhook announced; without unknown ones. */
    within: recent.within,
    /** Call it when the ledger was loaded again: it may have commits that were not applied, and another daemon may have heard more. */
    reload: (loaded: LedgerState) => {
      waiting = uncountedEnds(loaded)
      heard = merged(heard, loaded.sync.webhooks)
    },
    /** @param ledger after the commit */
    apply: (counts: WebhookCounts, { calls }: LedgerState) => {
      recent.add(counts.lags.length + counts.missed, counts.missed)
      waiting = counts.waiting
      for (const id of unseen.keys())
        if (counts.unlisted.includes(id) || calls.ofSession(id).length > 0) unseen.delete(id)
      for (const end of counts.done) {
        const used = Math.min(announcedAt(end), end.at + WINDOW_SECONDS)
        for (const one of END_TRIGGERS) keepAfter(noted, `${one} ${end.session}`, used)
      }
    },
  }
}

function hear(heard: Heard, name: string, now: number): Heard {
  const [first, last] = heard[name] ?? [now, now]
  return { ...heard, [name]: [now - last <= EXPECTED_SECONDS ? first : now, now] }
}

/** Whether webhooks announced such ends before this one, in the last 30 days. */
function isExpected(heard: Heard, { finish, at }: End, now: number): boolean {
  return expectedTriggers(finish).some((one) => {
    const [first, last] = heard[one] ?? [Infinity, -Infinity]
    return first <= at && now - last <= EXPECTED_SECONDS
  })
}

/** Adds to a delta what the store does not have yet, to a day. */
function addHeard(delta: Delta, heard: Heard): void {
  const stored: Heard = delta.sync.webhooks ?? {}
  const isNew = Object.entries(heard).some(([name, [, last]]) => last - (stored[name]?.[1] ?? -Infinity) > DAY)
  if (isNew) delta.sync = { ...delta.sync, webhooks: heard }
}

/** What was heard in this process, and what the store has. */
function merged(heard: Heard, stored: Heard = {}): Heard {
  const both: Record<string, Heard[string]> = { ...heard }
  for (const [name, [first, last]] of Object.entries(stored)) {
    const [before, after] = heard[name] ?? [first, last]
    both[name] = [Math.min(first, before), Math.max(last, after)]
  }
  return both
}

/** Adds when something happened; what is old is dropped and, of more ids than are kept, the oldest. */
function addTime(times: Map<string, number[]>, id: string, now: number): void {
  const known = times.get(id) ?? []
  times.delete(id)
  times.set(id, [...known, now].slice(-MAX_TIMES))
  for (const [oldest, all] of times) {
    if (times.size <= MAX_HINTS && now - all.at(-1)! <= MAX_AGE_SECONDS) return
    times.delete(oldest)
  }
}

function keepAfter(times: Map<string, number[]>, id: string, until: number): void {
  const left = (times.get(id) ?? []).filter((at) => at > until)
  if (left.length > 0) times.set(id, left)
  else times.delete(id)
}

function countEnd(delta: Delta, call: TrackedCall | undefined, outcome: 'yes' | 'no' | 'unknown'): void {
  const key = seriesKey(COUNTERS.webhookEnds, outcome)
  delta.counters.set(key, (delta.counters.get(key) ?? 0) + 1)
  if (call !== undefined) delta.calls.set(call.id, { ...call, marks: call.marks | MARK.endCounted })
}

/** The ends of calls that a delta shows first as finished. */
function endsIn({ calls, finishes, sync }: Delta): Map<string, End> {
  const finished = new Set(finishes)
  return endsOf(calls.values(), sync, ({ finish }) => finished.has(finish))
}

/** The ends that an earlier process found, but had not counted; also those of a first poll that it did not complete. */
function uncountedEnds({ calls, sync }: LedgerState): Map<string, End> {
  // The last commit may have been made some time before the poll succeeded, by another clock of the service.
  const oldest = (sync.lastSuccessHostTime ?? -Infinity) - 2 * WINDOW_SECONDS
  return endsOf(calls.values(), sync, ({ at }) => at > oldest)
}

/** Some ends that are not counted yet, by the id of the call; without calls that had ended when the target was created. */
function endsOf(
  calls: Iterable<TrackedCall>,
  { clockSkew = 0 }: SyncState,
  isWanted: (end: End) => boolean,
): Map<string, End> {
  const ends = new Map<string, End>()
  for (const call of calls) {
    const { id, finish, marks } = call
    if (finish === undefined || (marks & (MARK.endCounted | MARK.overAtSetUp)) !== 0) continue
    const at = finish.at - clockSkew
    const end = {
      session: sessionOf(call),
      began: call.session !== undefined && finish.began < finish.at ? finish.began - clockSkew : -Infinity,
      at,
      finish,
    }
    if (isWanted(end)) ends.set(id, end)
  }
  return ends
}
