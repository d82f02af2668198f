import { isoTime } from '../../../src/clock/times.ts'
import { incidentsOf, type Incident } from '../../../src/alerts/incidents.ts'
import { hasEnded, instanceOf, type Notification } from '../../../src/alerts/notification.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import type { NotifyConfig } from '../../../src/notifications/notify-section.ts'
import type { AlertMessage, ReportMessage, StoreMessage, AlertUpdate } from '../../../src/notifications/message.ts'
import { NO_AMOUNTS, REPORT, REPORT_ROW } from '../history/sample-report.ts'

/** As alerts are grouped where a test does not say otherwise: by target and severity, without a wait. */
export const GROUPED: Pick<NotifyConfig, 'groupBy' | 'groupWait' | 'groupInterval'> = {
  groupBy: ['target', 'severity'],
  groupWait: 0,
  groupInterval: 0,
}

/** 2026-11-20 08:15:30 UTC. */
export const AT = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000

export const FIRING: Notification = {
  kind: 'firing',
  target: 'production',
  key: 'HighFailureRate',
  alert: 'HighFailureRate',
  severity: 'critical',
  labels: {},
  signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
  match: {},
  breach: 'above',
  value: 0.425,
  threshold: 0.3,
  clear: 0.2,
  by: [],
  for: 120,
  keepFiringFor: 0,
  repeat: 14_400,
  calls: 40,
  counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
  since: AT - 120,
  firingSince: AT,
  peak: 0.425,
  at: AT,
  contributor: { label: 'type', value: 'video', failures: 14, ofFailures: 17, calls: 22, ofCalls: 40 },
  trend: [0.05, 0.08, null, 0.1, 0.06, 0.12, 0.21, 0.425],
  runbookUrl: 'https://runbooks.test/failures',
  description: 'Many of the calls of the last {window} failed. Ask the carrier.',
}

export const RESOLVED: Notification = {
  ...FIRING,
  kind: 'resolved',
  value: 0.1,
  threshold: 0.2,
  counts: { ended: 36, unanswered: 3, rejected: 1, canceled: 0, other: 0, total: 40 },
  since: AT - 3900,
  firingSince: AT - 3780,
  peak: 0.625,
  contributor: { label: 'type', value: 'audio', failures: 2, ofFailures: 4, calls: 21, ofCalls: 40 },
  trend: [0.12, 0.21, 0.425, 0.625, 0.6, 0.4, 0.2, 0.1],
}

export const REMINDER: Notification = { ...FIRING, since: AT - 14_520, firingSince: AT - 14_400 }

export const TOO_FEW: Notification = {
  ...FIRING,
  kind: 'expired',
  expiredBecause: 'too few calls',
  firingSince: AT - 3780,
  peak: 0.625,
}

export const REMOVED: Notification = { ...without(TOO_FEW), expiredBecause: 'rule removed' }
export const TARGET_REMOVED: Notification = { ...REMOVED, expiredBecause: 'target removed' }

/** A critical alert of another signal, without what only a ratio has. */
export function firingOf(alert: string, signal: Signal, given: Partial<Notification>): Notification {
  const { calls: _calls, counts: _counts, description: _description, ...base } = without(FIRING)
  return { ...base, alert, key: alert, signal, ...given }
}

function without({ contributor: _contributor, trend: _trend, ...rest }: Notification): Notification {
  return rest
}

export const NO_POLL: Notification = {
  ...firingOf('NoGoodPoll', { name: 'poll_age' }, { value: 312, threshold: 300, since: AT, peak: 312 }),
  description: 'The calls service could not be read for {value}; until it can be, no other alert here fires.',
}

export const POLLS_AGAIN: Notification = { ...NO_POLL, kind: 'resolved', value: 0, firingSince: AT - 600, peak: 905 }

/** A firing alert of each signal. */
export const SIGNALS = {
  failure_ratio: {
    ...FIRING,
    alert: 'VideoRejected',
    key: 'VideoRejected{type="video"}',
    labels: { type: 'video' },
    match: { mode: 'call' },
    signal: { name: 'failure_ratio', reason: 'rejected', window: 900, minCalls: 20, confidence: 0.95 },
    value: 0.3,
    threshold: 0.25,
    contributor: { label: 'receiver_type', value: 'group', failures: 5, ofFailures: 12, calls: 9, ofCalls: 40 },
  },
  calls_finished: firingOf(
    'NoCalls',
    { name: 'calls_finished', window: 3600 },
    { breach: 'below', value: 0, threshold: 1, calls: 0, peak: 0, trend: [31, 28, 33, 30, 27, 12, 3, 0] },
  ),
  calls_started: firingOf(
    'ManyCalls',
    { name: 'calls_started', window: 900 },
    { value: 1204, threshold: 1000, calls: 1204, peak: 1204, trend: [310, 290, 330, 301, 340, 502, 844, 1204] },
  ),
  minutes: firingOf(
    'ManyVideoMinutes',
    { name: 'minutes', window: 3600, media: 'video' },
    { value: 310.5, threshold: 300, calls: 12, peak: 310.5, trend: [120, 140, 90, 180, 210, 190, 260, 310.5] },
  ),
  in_progress: firingOf(
    'ManyOpenCalls',
    { name: 'in_progress' },
    { value: 112, threshold: 100, calls: 112, peak: 112 },
  ),
  answer_delay_p95: firingOf(
    'SlowAnswers',
    { name: 'answer_delay_p95', window: 900, minCalls: 20 },
    { value: 42, threshold: 30, calls: 36, peak: 42, trend: [8, 9, null, 12, 11, 15, 28, 42] },
  ),
  duration_mean: firingOf(
    'ShortCalls',
    { name: 'duration_mean', window: 3600, minCalls: 10 },
    { breach: 'below', value: 45, threshold: 60, calls: 80, peak: 45, trend: [300, 280, 310, 290, 270, 200, 90, 45] },
  ),
  short_calls: firingOf(
    'HangUps',
    { name: 'short_calls', shorterThan: 10, window: 3600, minCalls: 10 },
    { value: 0.4, threshold: 0.3, calls: 80, peak: 0.45, trend: [0.05, 0.08, 0.06, null, 0.1, 0.2, 0.35, 0.4] },
  ),
  recorded: firingOf(
    'CallsNotRecorded',
    { name: 'recorded', window: 3600, offset: 1800, minCalls: 20 },
    {
      breach: 'below',
      value: 0.9,
      threshold: 0.95,
      calls: 80,
      peak: 0.85,
      trend: [1, 1, 0.99, null, 1, 0.97, 0.85, 0.9],
    },
  ),
  not_joined: firingOf(
    'FewJoin',
    { name: 'not_joined', window: 1800, minCalls: 20 },
    { value: 0.6, threshold: 0.5, calls: 24, peak: 0.65, trend: [0.2, 0.22, 0.18, null, 0.25, 0.4, 0.65, 0.6] },
  ),
  stuck_calls: firingOf(
    'StuckCalls',
    { name: 'stuck_calls', longerThan: 10_800 },
    { value: 3, threshold: 0, calls: 3, peak: 3, oldest: { session: 'v1.us.3f9c2a', began: AT - 15_130 } },
  ),
  poll_age: NO_POLL,
  request_errors: firingOf(
    'ServiceErrors',
    { name: 'request_errors', window: 900, minRequests: 20 },
    { value: 0.51, threshold: 0.25, peak: 0.6 },
  ),
  budget_minutes: firingOf(
    'MinutesUsedUp',
    { name: 'budget_minutes', limit: 100_000, of: 'participants', timezone: 'Europe/Berlin', cycleDay: 1 },
    { value: 0.81204, threshold: 0.8, peak: 0.81204, forecast: 1.04, otherMinutes: 95_310.4 },
  ),
} satisfies Record<Signal['name'], Notification>

export const update = (notification: Notification, flaps = 0): AlertUpdate => ({ notification, flaps })

/** What fires of these alerts, as an incident. */
export function incidentOf(alerts: readonly Notification[], targets = 300): Incident | undefined {
  const firing = alerts.filter((one) => !hasEnded(one))
  const lives = firing.map((one) => ({ target: one.target, instance: instanceOf(one) }))
  return incidentsOf(lives, () => ({ key: 'group', labels: { alert: 'HighFailureRate' } }), targets)[0]
}

/** A message of these alerts of `production`. */
export function messageOf(
  alerts: readonly (Notification | AlertUpdate)[],
  given: Partial<AlertMessage> = {},
): AlertMessage {
  return {
    kind: 'alerts',
    group: { target: 'production', severity: 'critical' },
    target: 'production',
    severity: 'critical',
    route: undefined,
    incident: incidentOf(
      alerts.map((each) => ('notification' in each ? each.notification : each)),
      1,
    ),
    id: 'a drawn id',
    about: 'begins',
    thread: undefined,
    unanswered: [],
    elsewhere: [],
    targets: 1,
    unchanged: [],
    alerts: alerts.map((each) => ('notification' in each ? each : update(each))),
    flapped: [],
    silenced: [],
    inhibited: [],
    ...given,
  }
}

/** The report of a day, and the first one of a target. */
export const DAILY: ReportMessage = { kind: 'report', report: REPORT, every: 'day' }
export const FIRST: ReportMessage = {
  kind: 'report',
  report: {
    ...REPORT,
    since: isoTime(AT - 86_400),
    until: isoTime(AT),
    zone: 'UTC',
    rows: [REPORT_ROW],
    total: {
      ...REPORT_ROW,
      compared: { ...REPORT.total.compared, known_days: 0, now: NO_AMOUNTS, before: NO_AMOUNTS },
    },
  },
  every: undefined,
  setUp: ['production'],
}

export const STORE_FAILING: StoreMessage = {
  kind: 'store',
  state: 'failing',
  problem: 'database or disk is full',
  since: AT - 30,
  at: AT,
}

export const STORE_RECOVERED: StoreMessage = { ...STORE_FAILING, state: 'recovered', since: AT - 1830 }
