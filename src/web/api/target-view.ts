import { EXPORTED_WINDOWS, failureRatio, MIN_EXPORTED_CALLS } from '../../ledger/failure-ratio.ts'
import { listWarnings } from '../../ledger/list-warnings.ts'
import { COUNTERS, type DurableCounter } from '../../ledger/series.ts'
import type { LedgerState, SyncState } from '../../ledger/state.ts'
import { horizon } from '../../ledger/horizon.ts'
import { usedBetween } from '../../ledger/usage.ts'
import { participantsInProgress, sumOf, windows } from '../../metrics/derived-metrics.ts'
import type { TargetStatus } from '../../pipeline/target.ts'
import { ruleView } from './rule-view.ts'
import { isoTime } from '../../clock/iso-time.ts'

/** The service's clock now (UNIX seconds), extrapolated from the last successful poll. */
export function serviceNow({ ledger: { sync }, pollAge }: Pick<TargetStatus, 'ledger' | 'pollAge'>): number {
  return (sync.lastSuccess ?? sync.created) + pollAge()
}

export type TargetView = ReturnType<typeof targetView>

/** A target in `/api/v1/status`. Its sums equal the counters on `/metrics` at the same commit. */
export function targetView(target: TargetStatus) {
  return { ...currentView(target), ...committedView(target) }
}

/** The same as JSON. The committed part, which has nearly all of it, is formatted once a commit. */
export function targetJson(target: TargetStatus): string {
  return joinJson(currentView(target), committedJson(target))
}

/** Joins both parts of a target in `/api/v1/status`, of which one is JSON already. */
export function joinJson(current: CurrentView, committed: string): string {
  return `${JSON.stringify(current).slice(0, -1)},${committed.slice(1)}`
}

export type CurrentView = ReturnType<typeof currentView>

/** What changes without a commit. */
export function currentView(target: TargetStatus) {
  const { name, ledger } = target
  const { successful: up, problem, effectiveInterval, requestsLastMinute, slowSweep, refusedFrom } = target.health()
  const owner = target.owner()
  const sweepAge = target.sweepAge()
  const progress = target.progress()
  const slowedTo = target.slowedTo()
  const warnings = listWarnings(ledger.sync, serviceNow(target))
  return {
    name,
    up,
    ...(owner === undefined ? {} : { owner }),
    effective_interval_seconds: effectiveInterval === undefined ? null : toMilliseconds(effectiveInterval),
    lag_seconds: toMilliseconds(target.pollAge()),
    sweep_age_seconds: sweepAge === undefined ? null : toMilliseconds(sweepAge),
    requests_last_minute: requestsLastMinute,
    rate_limit_pause_seconds: target.pausedFor(),
    ...(slowedTo === undefined ? {} : { slowed_to_requests_per_minute: Math.round(slowedTo * 10) / 10 }),
    ...(progress === undefined ? {} : { listing: listingOf(progress) }),
    ...(slowSweep === undefined ? {} : { slow_sweep: slowSweep }),
    ...(refusedFrom === undefined ? {} : { refused_from_page: refusedFrom }),
    ...(warnings.length > 0 && { warnings }),
    ...(problem === undefined ? {} : { problem }),
  }
}

function listingOf({ pagesRead, pages, secondsLeft }: NonNullable<ReturnType<TargetStatus['progress']>>) {
  return { pages_read: pagesRead, pages: pages ?? null, seconds_left: secondsLeft ?? null }
}

/** What a commit changes, or a day that ends, or a reload. */
function committedView(target: TargetStatus) {
  const { ledger, settings } = target
  const { poll, rules } = settings
  const { sync } = ledger
  const byLast = (counter: DurableCounter, value: string) => sumOf(ledger, counter, (labels) => labels.at(-1) === value)
  const media = (counter: DurableCounter) => ({ audio: byLast(counter, 'audio'), video: byLast(counter, 'video') })
  return {
    created: isoTime(sync.created),
    horizon: isoTime(horizon(sync, poll.lookback)),
    commit: sync.seq,
    interval_seconds: poll.interval,
    clock_skew_seconds: sync.clockSkew === undefined ? null : toMilliseconds(sync.clockSkew),
    last_success: sync.lastSuccessHostTime === undefined ? null : isoTime(sync.lastSuccessHostTime),
    tracked_calls: ledger.calls.size,
    in_progress: ledger.open.size,
    in_progress_by: inProgressBy(ledger),
    participants_in_progress: participantsInProgress(ledger),
    started: sumOf(ledger, COUNTERS.started),
    finished: {
      ended: byLast(COUNTERS.finished, 'ended'),
      unanswered: byLast(COUNTERS.finished, 'unanswered'),
      rejected: byLast(COUNTERS.finished, 'rejected'),
      canceled: byLast(COUNTERS.finished, 'canceled'),
      other: byLast(COUNTERS.finished, 'other'),
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

/** The committed part as JSON. */
export function committedJson(target: TargetStatus): string {
  const { ledger, settings } = target
  const day = Math.floor(serviceNow(target) / DAY)
  const cached = cache.get(ledger.sync)
  if (cached?.settings === settings && cached.day === day) return cached.json
  const json = JSON.stringify(committedView(target))
  cache.set(ledger.sync, { settings, day, json })
  return json
}

const DAY = 86_400

/** Each commit makes a new sync state. */
const cache = new WeakMap<SyncState, { settings: TargetStatus['settings']; day: number; json: string }>()

/** Rounds ages (seconds): clocks are not more exact than a millisecond. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

/** The number of open calls by type and mode. */
function inProgressBy({ open }: Pick<LedgerState, 'open'>): { type: string; mode: string; calls: number }[] {
  const counts = new Map<string, { type: string; mode: string; calls: number }>()
  for (const { labels } of open.values()) {
    const { type, mode } = labels
    const key = `${type}|${mode}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { type, mode, calls: 1 })
    else known.calls += 1
  }
  return [...counts.values()].toSorted((a, b) => a.type.localeCompare(b.type) || a.mode.localeCompare(b.mode))
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
    return { since: isoTime(from), minutes: usedBetween(usage, from, Infinity) }
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
    const ratio = {
      any: failureRatio(counts, 'any'),
      unanswered: failureRatio(counts, 'unanswered'),
      rejected: failureRatio(counts, 'rejected'),
      canceled: failureRatio(counts, 'canceled'),
    }
    const hasRatio = total >= MIN_EXPORTED_CALLS
    return { window, seconds: seconds.get(window)!, calls: total, finished, failure_ratio: hasRatio ? ratio : null }
  })
}
