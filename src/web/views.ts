import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import { COUNTERS, type DurableCounter } from '../ledger/series.ts'
import type { Transition } from '../ledger/state.ts'
import { horizon } from '../ledger/step.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { listWarnings } from '../ledger/list-warnings.ts'
import { participantsInProgress, sumOf, type ExportedTarget } from '../metrics/derived-metrics.ts'
import { inProgressBy } from './in-progress-by.ts'
import { ruleView } from './rule-view.ts'
import type { TargetHealth } from './target-health.ts'
import { usedMinutes, type UsedMinutes } from './used-minutes.ts'
import { windowViews } from './window-views.ts'

/** A target as the API shows it: what is exported of it, and how it is doing. */
export type WatchedTarget = ExportedTarget & {
  readonly health: TargetHealth
  /** Who watches it, by name, where several daemons share the store and one of them does. */
  readonly owner: () => string | undefined
  /** Whether that is this daemon. */
  readonly isOwn: () => boolean
  readonly lookAge: () => number
  readonly judgedAge: () => number
  /** Seconds. */
  readonly lookback: number
  readonly interval: number
  /** How far the reading of the whole list has come that is under way, and how long the list is, in pages. */
  readonly progress?: () => { done: number; of: number | undefined } | undefined
  readonly budget: {
    /** The most requests that may be made in a minute, by all targets of the same address and key together. */
    readonly perMinute: number
    /** For how many seconds more no request is made, because the service asked for that. */
    readonly heldFor: () => number
  }
}

/** The service's clock now (UNIX seconds), as far as the last good look told of it. */
export function serviceNow({ ledger: { facts }, lookAge }: Pick<WatchedTarget, 'ledger' | 'lookAge'>): number {
  return (facts.lastGood ?? facts.created) + lookAge()
}

/** UNIX seconds as ISO 8601 in UTC, which all times of the API are. */
export function isoTime(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString()
}

/** A target in `/api/v1/status`. Its sums equal the counters on `/metrics` at the same commit. */
export function targetView(watched: WatchedTarget) {
  const { target, ledger, health, lookback, interval, budget, rules } = watched
  const { facts } = ledger
  const byLast = (counter: DurableCounter, value: string) => sumOf(ledger, counter, (labels) => labels.at(-1) === value)
  const owner = watched.owner()
  const sweepAge = watched.sweepAge()
  const reading = watched.progress?.()
  const effectiveInterval = health.effectiveInterval()
  const warnings = listWarnings(facts, serviceNow(watched))
  const used = usedMinutes(ledger.usage, serviceNow(watched))
  const media = (counter: DurableCounter) => ({ audio: byLast(counter, 'audio'), video: byLast(counter, 'video') })
  return {
    name: target,
    up: health.up(),
    ...(owner === undefined ? {} : { owner }),
    created: isoTime(facts.created),
    horizon: isoTime(horizon(facts, lookback)),
    commit: facts.seq,
    interval_seconds: interval,
    effective_interval_seconds: effectiveInterval === undefined ? null : toMilliseconds(effectiveInterval),
    clock_skew_seconds: facts.clockSkew === undefined ? null : toMilliseconds(facts.clockSkew),
    last_success: facts.lastGoodHost === undefined ? null : isoTime(facts.lastGoodHost),
    lag_seconds: toMilliseconds(watched.lookAge()),
    sweep_age_seconds: sweepAge === undefined ? null : toMilliseconds(sweepAge),
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
    participant_minutes_today: periodView(used.day),
    participant_minutes_this_month: periodView(used.month),
    windows: windowViews(ledger),
    rules: rules.map((rule) => ruleView(rule, ledger)),
    requests_last_minute: health.requestsLastMinute(),
    max_requests_per_minute: budget.perMinute,
    held_back_seconds: budget.heldFor(),
    ...(reading === undefined ? {} : { listing: { pages_read: reading.done, pages: reading.of ?? null } }),
    ...(health.slowSweep() === undefined ? {} : { slow_sweep: health.slowSweep() }),
    ...(health.refusedFrom() === undefined ? {} : { refused_from_page: health.refusedFrom() }),
    ...(warnings.length > 0 && { warnings }),
    ...(health.problem() === undefined ? {} : { problem: health.problem() }),
  }
}

/** Ages (seconds), as exact as they mean anything. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

function periodView({ from, minutes }: UsedMinutes) {
  return { since: isoTime(from), minutes }
}

/** A call in `/api/v1/calls`. */
export function callView(target: string, call: TrackedCall) {
  const { finish, labels } = call
  const { type, mode, receiverType } = finish?.labels ?? labels
  const [callAudio = 0, callVideo = 0] = call.counted
  return {
    target,
    session_id: call.id,
    type,
    mode,
    receiver_type: receiverType,
    status: finish?.status ?? call.status,
    began: isoTime(beganAt(call)),
    ...(finish === undefined ? {} : { finished: isoTime(finish.at) }),
    participants: (finish === undefined ? call.joined : call.totalParticipants) ?? 0,
    minutes: { audio: callAudio, video: callVideo },
  }
}

/** An alert instance in `/api/v1/alerts`. */
export function alertView(target: string, instance: AlertInstance) {
  const { rule, labels, state, value, calls, since, firingSince, peak } = instance
  return {
    target,
    alert: rule.name,
    severity: rule.severity,
    state,
    labels,
    value,
    threshold: rule.threshold,
    calls: calls ?? null,
    since: isoTime(since),
    firing_since: firingSince === undefined ? null : isoTime(firingSince),
    peak,
    signal: rule.signal.name,
    breach: rule.breach,
    clear: rule.clear,
    ...(rule.runbookUrl === undefined ? {} : { runbook_url: rule.runbookUrl }),
  }
}

/** A transition on the event stream. */
export function transitionEvent(target: string, { call, from, to, observed, at }: Transition) {
  return { ...callView(target, call), from, to, observed, at: isoTime(at) }
}

/** An alert's change on the event stream. */
export function alertEvent(notification: Notification) {
  const { target, alert, severity, labels, signal, breach, kind, value, threshold, calls, peak, at } = notification
  const since = isoTime(notification.since)
  return {
    target,
    alert,
    severity,
    labels,
    state: kind,
    signal: signal.name,
    breach,
    value,
    threshold,
    calls: calls ?? null,
    since,
    peak,
    at: isoTime(at),
  }
}

/** The shapes of the API, for those who read it. */
export type TargetView = ReturnType<typeof targetView>
export type CallView = ReturnType<typeof callView>
export type AlertView = ReturnType<typeof alertView>
export type TransitionEvent = ReturnType<typeof transitionEvent>
export type AlertEvent = ReturnType<typeof alertEvent>
