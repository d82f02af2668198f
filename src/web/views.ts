import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import { COUNTERS, type DurableCounter } from '../ledger/series.ts'
import type { Transition } from '../ledger/state.ts'
import { horizon } from '../ledger/step.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { participantsInProgress, sumOf, type ExportedTarget } from '../metrics/derived-metrics.ts'
import type { TargetHealth } from './target-health.ts'

/** A target as the API shows it: what is exported of it, and how it is doing. */
export type WatchedTarget = ExportedTarget & {
  readonly health: TargetHealth
  readonly lookAge: () => number
  readonly judgedAge: () => number
  /** Seconds. */
  readonly lookback: number
  readonly interval: number
}

/** UNIX seconds as ISO 8601 in UTC, which all times of the API are. */
export function isoTime(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString()
}

/** A target in `/api/v1/status`. Its sums equal the counters on `/metrics` at the same commit. */
export function targetView(watched: WatchedTarget) {
  const { target, ledger, health, lookback } = watched
  const { facts } = ledger
  const byLast = (counter: DurableCounter, value: string) => sumOf(ledger, counter, (labels) => labels.at(-1) === value)
  const media = (counter: DurableCounter) => ({ audio: byLast(counter, 'audio'), video: byLast(counter, 'video') })
  return {
    name: target,
    up: health.up(),
    created: isoTime(facts.created),
    horizon: isoTime(horizon(facts, lookback)),
    last_success: facts.lastGoodHost === undefined ? null : isoTime(facts.lastGoodHost),
    lag_seconds: watched.lookAge(),
    sweep_age_seconds: watched.sweepAge() ?? null,
    tracked_calls: ledger.calls.size,
    in_progress: ledger.open.size,
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
    requests_last_minute: health.requestsLastMinute(),
    ...(health.slowSweep() === undefined ? {} : { slow_sweep: health.slowSweep() }),
    ...(health.refusedFrom() === undefined ? {} : { refused_from_page: health.refusedFrom() }),
    ...(health.problem() === undefined ? {} : { problem: health.problem() }),
  }
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
export function alertView(target: string, { rule, labels, state, value, calls, since, peak }: AlertInstance): object {
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
    peak,
  }
}

/** A transition on the event stream. */
export function transitionEvent(target: string, { call, from, to, observed, at }: Transition): object {
  return { ...callView(target, call), from, to, observed, at: isoTime(at) }
}

/** An alert's change on the event stream. */
export function alertEvent(notification: Notification): object {
  const { target, alert, severity, labels, kind, value, threshold, calls, peak, at } = notification
  const since = isoTime(notification.since)
  return {
    target,
    alert,
    severity,
    labels,
    state: kind,
    value,
    threshold,
    calls: calls ?? null,
    since,
    peak,
    at: isoTime(at),
  }
}
