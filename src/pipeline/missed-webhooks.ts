import { TRIGGERS, type Hint } from '../ledger/hint.ts'
import { sessionOf } from '../ledger/identity.ts'
import { withoutPrefix, type App } from '../ledger/session-id.ts'
import type { Delta } from '../ledger/state.ts'
import { hasEvents } from '../ledger/tracked-call.ts'
import type { OpenTargetOptions } from './target.ts'

/** Ends of calls by whether their webhook came, and after how many seconds, where the service says when the call ended. */
export type WebhookEnds = { announced: number; missed: number; lags: number[] }

/**
 * When a call ended, or earlier if only its beginning is known, and when callwatch found that (monotonic seconds). The session is its id
 * without the prefix of the app.
 */
type End = { session: string; at: number; found: number; isExact: boolean }

/** A webhook is waited for so long after its end was found, and may come so much before the end: clocks differ (seconds). */
const WINDOW_SECONDS = 60
/** Of more sessions, or more ends that wait for their webhook, the oldest are dropped. */
const MOST = 10_000
/** Of one session. */
const MOST_TIMES = 100

export type MissedWebhooks = ReturnType<typeof missedWebhooks>

/** What the webhooks of a target miss; undefined if it accepts none. A target that is loaded again keeps what it has heard. */
export function missedWebhooksOf({ settings, store, clock, before }: OpenTargetOptions) {
  if (settings.target.webhook === undefined) return undefined
  const opened = clock.monotonic()
  // Webhooks may also come to another daemon, which passes them on.
  const since = () => Math.max(opened, store.cluster?.hints.hearsSince() ?? opened)
  return before?.ends ?? missedWebhooks(clock.monotonic, since, settings.target)
}

/**
 * Whether webhooks announced the ends of calls that polls found, since the process started. An end of which it could not have heard
 * does not count: it listened too late, or the call was over at the set-up.
 *
 * @param monotonic seconds
 * @param since when this daemon began to listen, as it is known now (monotonic seconds)
 */
function missedWebhooks(monotonic: () => number, since: () => number, app: App) {
  /** When webhooks said that a call of a session ended, by its id without the prefix of the app. */
  const heard = new Map<string, number[]>()
  /** When the latest one came that was dropped. */
  let dropped = -Infinity
  let waiting: End[] = []
  let hasHeard = false
  let hasMissed = false

  /** Takes the webhook of an end. One of an earlier call of the session may have come before it. */
  function takeWebhook({ session, at, found }: End): number | undefined {
    const times = heard.get(session) ?? []
    const taken = times.findIndex((time) => time >= at - WINDOW_SECONDS && time <= found + WINDOW_SECONDS)
    return taken === -1 ? undefined : times.splice(taken, 1)[0]
  }

  return {
    /** Whether calls have ended, and no webhook has come. */
    isSilent: () => hasMissed && !hasHeard,
    note: ({ id, trigger }: Hint): void => {
      hasHeard = true
      if (TRIGGERS[trigger] !== 'end') return
      const session = withoutPrefix(id, app)
      const times = heard.get(session) ?? []
      heard.delete(session)
      heard.set(session, [...times, monotonic()].slice(-MOST_TIMES))
      if (heard.size <= MOST) return
      const [oldest, came] = heard.entries().next().value!
      heard.delete(oldest)
      dropped = came.at(-1) ?? dropped
    },
    /** Counts the ends of a commit, and earlier ones whose webhook has come, or has not come for a minute. */
    count: (committed: Pick<Delta, 'calls' | 'finishes'>): WebhookEnds => {
      const now = monotonic()
      const counts: WebhookEnds = { announced: 0, missed: 0, lags: [] }
      const from = Math.max(since(), dropped) + WINDOW_SECONDS
      const ends = [...waiting, ...endsIn(committed, now, app)].filter(({ at }) => at >= from)
      waiting = ends.filter((end) => {
        const came = takeWebhook(end)
        if (came === undefined && now <= end.found + WINDOW_SECONDS) return true
        counts[came === undefined ? 'missed' : 'announced'] += 1
        if (came !== undefined && end.isExact) counts.lags.push(Math.max(0, came - end.at))
        return false
      })
      waiting.splice(0, waiting.length - MOST)
      hasMissed ||= counts.missed > 0
      return counts
    },
  }
}

/** The ends that a commit found. */
function endsIn({ calls, finishes }: Pick<Delta, 'calls' | 'finishes'>, now: number, app: App): End[] {
  const finished = new Set(finishes)
  return [...calls.values()].flatMap((call) => {
    const { finish, endedAt } = call
    if (finish === undefined || !finished.has(finish) || !hasEvents(call)) return []
    const at = now - Math.max(0, finish.known - finish.at)
    return [{ session: withoutPrefix(sessionOf(call), app), at, found: now, isExact: endedAt !== undefined }]
  })
}
