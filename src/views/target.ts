import * as z from 'zod'
import { STALE_INTERVALS } from '../clock/intervals.ts'
import { isoTime, wholeMilliseconds } from '../clock/times.ts'
import { EXPORTED_WINDOWS, failureRatio, MIN_EXPORTED_CALLS, REASONS } from '../ledger/failure-ratio.ts'
import { horizon } from '../ledger/horizon.ts'
import { listWarnings } from '../ledger/list-warnings.ts'
import { COUNTERS, sumOf, type DurableCounter } from '../ledger/series.ts'
import { knownSince, type LedgerState, type SyncState } from '../ledger/state.ts'
import { usedSince } from '../ledger/usage.ts'
import { participantsInProgress, windows } from '../ledger/windows.ts'
import { formatSlow, formatUnreadTime } from '../text/format.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { MEANINGS } from './check.ts'
import { rule, ruleView } from './rule.ts'
import type { ShownTarget } from './shown-target.ts'
import { byName, byOutcome, count, minutes, namedObject, outcomes, ratio, seconds, time } from './shapes.ts'

/** The service's clock now (UNIX seconds), extrapolated from the last successful poll. */
export function serviceNow({ ledger: { sync }, pollAge }: Pick<ShownTarget, 'ledger' | 'pollAge'>): number {
  return (sync.lastSuccess ?? sync.created) + pollAge()
}

/** When a target was set up, since when its calls are counted, and whether a confirmed sweep has read its list. */
export function setUpOf(target: ShownTarget) {
  const { created, past, confirmedSweep } = target.ledger.sync
  return { name: target.name, created, past, isSwept: confirmedSweep !== undefined, serviceNow: serviceNow(target) }
}

const warningKind = z.enum([
  'clock_skew',
  'order_unverified',
  'order_refuted',
  'no_webhooks',
  'slow_service',
  'unread_times',
])
const warning = z.object({ kind: warningKind, message: z.string() })

/** The part of a target's view that changes without a commit. */
const current = z.object({
  name: z.string(),
  up: z.boolean().describe('Whether the last poll was successful'),
  owner: z.string().optional().describe('With a shared store: the daemon that owns the target'),
  effective_interval_seconds: seconds.nullable(),
  lag_seconds: seconds,
  sweep_age_seconds: seconds.nullable(),
  requests_last_minute: count,
  rate_limit_pause_seconds: seconds.describe('Rest of a rate limit pause'),
  slowed_to_requests_per_minute: z.number().optional().describe('Where the service has few left for the app'),
  listing: z.object({ pages_read: count, pages: count.nullable(), seconds_left: count.nullable() }).optional(),
  slow_sweep: z.object({ pages: count, seconds, polls: count }).optional(),
  refused_from_page: count.optional(),
  warnings: z.array(warning).optional(),
  problem: z.string().optional().describe('What failed, also if the poll was successful'),
  fault: z
    .enum(['service', 'store', 'list', 'bug'])
    .optional()
    .describe('Where the problem is; list: the list is too long for one poll'),
})

const used = z.object({ since: time, minutes: z.number() })

/** The part of a target's view that changes with a commit, at the end of a day, or with a reload. */
const committed = z.object({
  created: time,
  counted_since: time.describe('Since when all its calls are counted'),
  horizon: time.describe('How far back calls count'),
  commit: count.describe('Number of the last commit, to which all that is shown belongs'),
  interval_seconds: seconds,
  clock_skew_seconds: z.number().nullable(),
  last_success: time.nullable(),
  tracked_calls: count,
  in_progress: count,
  in_progress_by: z.array(z.object({ type: z.string(), mode: z.string(), calls: count })),
  participants_in_progress: count,
  started: count,
  finished: z.object({ ...outcomes, lost: count }),
  minutes,
  participant_minutes: minutes,
  participant_minutes_today: used,
  participant_minutes_this_month: used,
  windows: z.array(
    z.object({
      window: z.string(),
      seconds,
      calls: count,
      finished: z.object(outcomes),
      failure_ratio: z
        .object(byName(REASONS, () => ratio))
        .nullable()
        .describe('Null below five calls'),
    }),
  ),
  rules: z.array(rule),
  max_requests_per_minute: count,
})

/** A target in `/api/v1/state`. Its sums equal the counters on `/metrics` at the same commit. */
export const target = namedObject('Target', {
  ...current.shape,
  state: z
    .enum(['up', 'failing', 'stale', 'never polled', 'initial sync'])
    .describe('failing: the last poll failed; stale: none was successful for three intervals'),
  ...committed.shape,
})

export type TargetView = z.output<typeof target>
export type CurrentView = z.output<typeof current>
export type CommittedView = z.output<typeof committed>

export function targetView(target: ShownTarget): TargetView {
  return withState({ ...withoutNoise(currentView(target)), ...committedView(target) })
}

export function withState(view: CurrentView & CommittedView): TargetView {
  const { up, fault, problem, last_success: last, lag_seconds: lag, interval_seconds: interval } = view
  const isOfList = fault === 'list'
  const before = problem === undefined || isOfList ? 'initial sync' : 'never polled'
  const after = lag > STALE_INTERVALS * interval ? 'stale' : up || isOfList ? 'up' : 'failing'
  return { ...view, state: last === null ? before : after }
}

export function currentView(target: ShownTarget): CurrentView {
  const { name, ledger } = target
  const health = target.health()
  const [progress, slowedTo] = [target.progress(), target.slowedTo()]
  const warnings: CurrentView['warnings'] = [
    ...listWarnings(ledger.sync, serviceNow(target)),
    ...webhookWarnings(target),
  ]
  // The progress of a list that is read for long says it, too.
  if (health.successful && health.slowAnswers !== undefined)
    warnings.push({ kind: 'slow_service', message: formatSlow(health.slowAnswers) })
  if (health.unreadTime !== undefined)
    warnings.push({ kind: 'unread_times', message: formatUnreadTime(health.unreadTime) })
  return {
    name,
    up: health.successful,
    owner: target.owner(),
    effective_interval_seconds: toMilliseconds(health.effectiveInterval),
    lag_seconds: wholeMilliseconds(target.pollAge()),
    sweep_age_seconds: toMilliseconds(target.sweepAge()),
    requests_last_minute: health.requestsLastMinute,
    rate_limit_pause_seconds: target.pausedFor(),
    slowed_to_requests_per_minute: slowedTo === undefined ? undefined : Math.round(slowedTo * 10) / 10,
    listing: progress && {
      pages_read: progress.pagesRead,
      pages: progress.pages ?? null,
      seconds_left: progress.secondsLeft ?? null,
    },
    slow_sweep: health.slowSweep,
    refused_from_page: health.refusedFrom,
    warnings: warnings.length > 0 ? warnings : undefined,
    problem: health.problem,
    fault: health.fault,
  }
}

/** Webhooks of the service are accepted, and none has come since the start, although calls have ended. */
function webhookWarnings({ ends }: ShownTarget): NonNullable<CurrentView['warnings']> {
  if (ends?.isSilent() !== true) return []
  const message = `calls have ended, and no webhook of the calls service has come: ${MEANINGS.webhooks}`
  return [{ kind: 'no_webhooks', message }]
}

/** The part that changes with a commit. It stays the same object until it changes. */
export function committedView(target: ShownTarget): CommittedView {
  const { ledger, settings } = target
  const day = Math.floor(serviceNow(target) / DAY)
  const cached = cache.get(ledger.sync)
  if (cached?.settings === settings && cached.day === day) return cached.view
  const view = withoutNoise(viewOfCommit(target))
  cache.set(ledger.sync, { settings, day, view })
  return view
}

const DAY = 86_400

/** Each commit makes a new sync state. */
const cache = new WeakMap<SyncState, { settings: ShownTarget['settings']; day: number; view: CommittedView }>()

function viewOfCommit(target: ShownTarget): CommittedView {
  const { ledger, settings } = target
  const { poll, rules } = settings
  const { sync } = ledger
  const byLast = (counter: DurableCounter, value: string) => sumOf(ledger, counter, (labels) => labels.at(-1) === value)
  const media = (counter: DurableCounter) => ({ audio: byLast(counter, 'audio'), video: byLast(counter, 'video') })
  return {
    created: isoTime(sync.created),
    counted_since: isoTime(knownSince(sync)),
    horizon: isoTime(horizon(sync, poll.lookback)),
    commit: sync.seq,
    interval_seconds: poll.interval,
    clock_skew_seconds: toMilliseconds(sync.clockSkew),
    last_success: sync.lastSuccessHostTime === undefined ? null : isoTime(sync.lastSuccessHostTime),
    tracked_calls: ledger.calls.size,
    in_progress: ledger.open.size,
    in_progress_by: inProgressBy(ledger),
    participants_in_progress: participantsInProgress(ledger),
    started: sumOf(ledger, COUNTERS.started),
    finished: {
      ...byOutcome((status) => byLast(COUNTERS.finished, status)),
      lost: sumOf(ledger, COUNTERS.lost),
    },
    minutes: media(COUNTERS.callMinutes),
    participant_minutes: media(COUNTERS.participantMinutes),
    ...usedMinutes(ledger.usage, serviceNow(target)),
    windows: windowViews(ledger),
    rules: rules.map((rule) => ruleView(rule, ledger)),
    max_requests_per_minute: poll.maxRequestsPerMinute,
  }
}

function toMilliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : wholeMilliseconds(seconds)
}

/** The number of open calls by type and mode. */
function inProgressBy({ open }: Pick<LedgerState, 'open'>) {
  const byLabels = Map.groupBy(open.values(), ({ labels: { type, mode } }) => `${type}|${mode}`)
  return Array.from(byLabels.values(), (calls) => {
    const { type, mode } = calls[0]!.labels
    return { type, mode, calls: calls.length }
  }).toSorted((a, b) => a.type.localeCompare(b.type) || a.mode.localeCompare(b.mode))
}

/**
 * Participant minutes of the current day and month (UTC). Minutes belong to the day and month in which callwatch counted
 * them.
 *
 * @param usage minutes by quarter of an hour
 * @param now UNIX seconds by the service's clock
 */
export function usedMinutes(usage: ReadonlyMap<number, number>, now: number) {
  const date = new Date(now * 1000)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const since = (milliseconds: number) => {
    const from = milliseconds / 1000
    return { since: isoTime(from), minutes: usedSince({ usage }, from, 'participants') }
  }
  return {
    participant_minutes_today: since(Date.UTC(year, month, date.getUTCDate())),
    participant_minutes_this_month: since(Date.UTC(year, month, 1)),
  }
}

/**
 * The exported windows: finished calls by status, and failure ratios where there are enough calls. Equal to
 * `callwatch_window_calls` and `callwatch_call_failure_ratio` at the same commit.
 */
function windowViews(ledger: Pick<LedgerState, 'finished' | 'sync'>) {
  const seconds = new Map<string, number>(Object.entries(EXPORTED_WINDOWS))
  return windows(ledger).map(([window, counts]) => {
    const { total, ...finished } = counts
    const ratios = total < MIN_EXPORTED_CALLS ? null : byName(REASONS, (reason) => failureRatio(counts, reason))
    return { window, seconds: seconds.get(window)!, calls: total, finished, failure_ratio: ratios }
  })
}
