import { BASELINE_CODE, LOST_CODE, statusOf } from '../ledger/call-codes.ts'
import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import { CALL_VALUES } from './call-columns.ts'

/** The SQL that differs between the two kinds of stores. */
const DIALECTS = {
  sqlite: {
    view: (name: string) => `DROP VIEW IF EXISTS callwatch.${name}; CREATE VIEW callwatch.${name}`,
    // Otherwise the planner might read all calls.
    join: 'CROSS JOIN',
    time: (seconds: string) => seconds,
    whole: (number: string) => `CAST(${number} AS INTEGER)`,
    real: (number: string) => `CAST(${number} AS REAL)`,
    json: (...path: readonly string[]) => `data ->> '$.${path.join('.')}'`,
  },
  postgres: {
    // Roles keep their rights, and users their views that read this one. Therefore new columns come last.
    view: (name: string) => `CREATE OR REPLACE VIEW callwatch.${name}`,
    join: 'JOIN',
    time: (seconds: string) => `to_timestamp(${seconds})`,
    // PostgreSQL would round here, unlike SQLite.
    whole: (number: string) => `trunc(${number})::integer`,
    real: (number: string) => `(${number})::double precision`,
    json: (...path: readonly string[]) => `data::json #>> '{${path.join(',')}}'`,
  },
} as const

/** The statements that create the relations, or replace them by this version's. */
export function createViews(store: keyof typeof DIALECTS): string {
  return `${DIALECTS[store].view('call_history')} AS ${callHistory(store)};
  ${DIALECTS[store].view('alert_history')} AS ${alertHistory(store)}`
}

/** The text for a code. The last text is for all other codes. */
function textOf(code: string, texts: readonly string[]): string {
  const cases = texts.slice(0, -1).map((text, i) => `WHEN ${i} THEN '${text}'`)
  return `CASE ${code} ${cases.join(' ')} ELSE '${texts.at(-1)}' END`
}

const STATUSES = [...Array.from({ length: LOST_CODE }, (_, code) => statusOf(code)), 'lost']
// The code of labels counts receiver types first, then modes, then types (call.ts ALL_LABELS).
const [KINDS, WAYS] = [RECEIVER_TYPES.length, MODES.length]

/** The columns of `call_history` (docs/sql.md). */
export function callColumns(store: keyof typeof DIALECTS) {
  const { time, whole } = DIALECTS[store]
  return {
    target: 'targets.name',
    session_id: 'coalesce(session, id)',
    type: textOf(`labels / ${KINDS * WAYS}`, TYPES),
    mode: textOf(`labels / ${KINDS} % ${WAYS}`, MODES),
    receiver_type: textOf(`labels % ${KINDS}`, RECEIVER_TYPES),
    status: textOf('status', STATUSES),
    began: time(CALL_VALUES.began),
    finished: time('finished'),
    duration_seconds: CALL_VALUES.duration,
    answer_delay_seconds: CALL_VALUES.answer_delay,
    participants: whole(CALL_VALUES.participants),
    audio_minutes: 'audio',
    video_minutes: 'video',
    participant_audio_minutes: 'participant_audio',
    participant_video_minutes: 'participant_video',
    has_recording: 'recorded',
    noticed: time(CALL_VALUES.noticed),
    call_id: 'id',
  }
}

/** All counted calls. */
function callHistory(store: keyof typeof DIALECTS): string {
  return `SELECT ${selected(callColumns(store))}
    FROM callwatch.targets ${DIALECTS[store].join} callwatch.calls ON target = number WHERE status <> ${BASELINE_CODE}`
}

/** The columns of `alert_history` (docs/sql.md). */
export function alertColumns(store: keyof typeof DIALECTS) {
  const { time, real, json } = DIALECTS[store]
  return {
    target: 'target',
    alert: 'rule',
    key: 'alert',
    severity: 'severity',
    signal: json('signal', 'name'),
    type: json('labels', 'type'),
    mode: json('labels', 'mode'),
    receiver_type: json('labels', 'receiver_type'),
    breach: json('breach'),
    threshold: real(json('threshold')),
    peak: real(json('peak')),
    since: time('since'),
    until: time('until'),
    outcome: json('outcome'),
    expired_because: json('expiredBecause'),
  }
}

/** A row for each time that an alert fired. */
function alertHistory(store: keyof typeof DIALECTS): string {
  return `SELECT ${selected(alertColumns(store))} FROM callwatch.alert_episodes`
}

function selected(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, value]) => `${value} AS ${name}`)
    .join(', ')
}
