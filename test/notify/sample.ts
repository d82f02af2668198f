import type { Notification } from '../../src/alerts/notification.ts'

/** 2026-11-20 08:15:30 UTC. */
export const AT = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000

export const FIRING: Notification = {
  kind: 'firing',
  target: 'production',
  alert: 'HighFailureRate',
  severity: 'critical',
  signal: 'failure_ratio',
  reason: 'any',
  window: 900,
  value: 0.425,
  threshold: 0.3,
  counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
  since: AT - 120,
  firingSince: AT,
  peak: 0.425,
  at: AT,
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
}

export const TOO_FEW: Notification = {
  ...FIRING,
  kind: 'closed',
  closedBecause: 'too few calls',
  firingSince: AT - 3780,
  peak: 0.625,
}

export const REMOVED: Notification = { ...TOO_FEW, closedBecause: 'rule removed' }

export const NO_POLL: Notification = {
  kind: 'firing',
  target: 'production',
  alert: 'NoGoodPoll',
  severity: 'critical',
  signal: 'poll_age',
  value: 312,
  threshold: 300,
  since: AT,
  firingSince: AT,
  peak: 312,
  at: AT,
}

export const POLLS_AGAIN: Notification = { ...NO_POLL, kind: 'resolved', value: 0, firingSince: AT - 600, peak: 905 }
