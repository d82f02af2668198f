import type { Report, ReportRow } from '../../../src/views/report.ts'

export const NO_AMOUNTS = { calls: 0, failure_ratio: null, participant_minutes: 0, user_minutes: 0 }
const durations = { duration_seconds: { mean: 300, p50: 240, p95: 900 } }

const NOW = { calls: 1204, failure_ratio: 0.042, participant_minutes: 8310.4, user_minutes: 9008 }
const BEFORE = { calls: 1075, failure_ratio: 0.033, participant_minutes: 8567, user_minutes: 9010 }

export const REPORT_ROW: ReportRow = {
  target: 'production',
  calls: { total: 1204, ended: 1153, unanswered: 30, rejected: 15, canceled: 6, other: 0, lost: 0 },
  minutes: { audio: 3000, video: 1500 },
  participant_minutes: { audio: 6000, video: 2310.4, total: 8310.4 },
  user_minutes: 9008,
  failure_ratio: 0.042,
  invited: { joined: 2990, absent: 410, unknown: 3 },
  not_joined_ratio: 0.1206,
  ...durations,
  noticed_late: 3,
  blind_seconds: 3000,
  compared: { targets: 1, days: 1, known_days: 1, now: NOW, before: BEFORE },
}

/** A day of three targets, of which one is new, and one had no call. */
export const REPORT: Report = {
  since: '2026-11-18T23:00:00.000Z',
  until: '2026-11-19T23:00:00.000Z',
  zone: 'Europe/Berlin',
  running: false,
  before: { since: '2026-11-11T23:00:00.000Z', until: '2026-11-12T23:00:00.000Z' },
  coverage: {
    blind_seconds: 3000,
    blind: [
      { target: 'production', kind: 'ended', since: '2026-11-19T01:00:00.000Z', until: '2026-11-19T01:50:00.000Z' },
    ],
  },
  worst_hour: { since: '2026-11-19T13:00:00.000Z', calls: 80, failed: 21 },
  fired: [
    { alert: 'HighFailureRate', severity: 'critical', times: 3, targets: 2, seconds: 4800 },
    { alert: 'NoGoodPoll', severity: 'warning', times: 1, targets: 1, seconds: 300 },
  ],
  forecast: null,
  by: ['target'],
  rows: [
    {
      ...REPORT_ROW,
      target: 'new-customer',
      calls: { total: 2, ended: 1, unanswered: 0, rejected: 0, canceled: 0, other: 1, lost: 0 },
      participant_minutes: { audio: 3.5, video: 0, total: 3.5 },
      user_minutes: 4,
      failure_ratio: null,
      blind_seconds: 0,
      compared: { targets: 1, days: 1, known_days: 0, now: NO_AMOUNTS, before: NO_AMOUNTS },
    },
    REPORT_ROW,
    {
      ...REPORT_ROW,
      target: 'staging',
      calls: { total: 0, ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 },
      participant_minutes: { audio: 0, video: 0, total: 0 },
      user_minutes: 0,
      failure_ratio: null,
      blind_seconds: 0,
      compared: {
        targets: 1,
        days: 1,
        known_days: 1,
        now: NO_AMOUNTS,
        before: { calls: 4, failure_ratio: null, participant_minutes: 12, user_minutes: 0 },
      },
    },
  ],
  total: {
    ...REPORT_ROW,
    calls: { total: 1206, ended: 1154, unanswered: 30, rejected: 15, canceled: 6, other: 1, lost: 0 },
    participant_minutes: { audio: 6003.5, video: 2310.4, total: 8313.9 },
    user_minutes: 9012,
    compared: {
      targets: 3,
      days: 3,
      known_days: 2,
      now: NOW,
      before: { ...BEFORE, calls: 1079, participant_minutes: 8579 },
    },
  },
}
