import { isoTime } from '../clock/iso-time.ts'
import type { RowReader } from '../store/row-reader.ts'
import { csvLine } from '../text/csv.ts'
import { coverageOf, type Coverage } from './coverage.ts'
import { USAGE_STATUSES, usageOf, type UsageKey, type UsageQuery, type UsageRow } from './usage.ts'

/** A report as `callwatch report --format json` prints it and `/api/v1/report` answers it. Times are ISO 8601 in UTC. */
export type UsageReport = { since: string; until: string; zone: string; coverage: CoverageView; rows: UsageRow[] }

export type CoverageView = ReturnType<typeof coverageView>

/** {@link Coverage} for programs. */
export function coverageView({ blindSeconds, blind }: Coverage) {
  return {
    /** How long at least one target was not seen. */
    blind_seconds: blindSeconds,
    blind: blind.map(({ target, kind, from, to }) => ({ target, kind, since: isoTime(from), until: isoTime(to) })),
  }
}

/** @throws {StoreError} when the store cannot be read now */
export async function usageReport(store: RowReader, query: UsageQuery): Promise<UsageReport> {
  const { from, to, zone, filter } = query
  return {
    since: isoTime(from),
    until: isoTime(to),
    zone,
    coverage: coverageView(await coverageOf(store, query, filter?.targets)),
    rows: await usageOf(store, query),
  }
}

/** A cell of a report in one line. */
export type UsageCell = string | number | null

/** The columns of a report's rows in one line each. */
export const USAGE_COLUMNS: Readonly<Record<string, (row: UsageRow) => UsageCell>> = {
  ...Object.fromEntries(USAGE_STATUSES.map((status) => [status, ({ calls }: UsageRow) => calls[status]])),
  audio_minutes: ({ minutes }) => minutes.audio,
  video_minutes: ({ minutes }) => minutes.video,
  participant_audio_minutes: ({ participant_minutes: { audio } }) => audio,
  participant_video_minutes: ({ participant_minutes: { video } }) => video,
  failure_ratio: (row) => row.failure_ratio,
  mean_duration_seconds: (row) => row.duration_seconds.mean,
  p95_duration_seconds: (row) => row.duration_seconds.p95,
  noticed_late: (row) => row.noticed_late,
}

/** The rows as CSV, with a header. */
export function usageCsv(rows: readonly UsageRow[], by: readonly UsageKey[]): string {
  const lines = rows.map((row) => [
    ...by.map((key) => row[key]),
    ...Object.values(USAGE_COLUMNS).map((valueOf) => valueOf(row)),
  ])
  return [[...by, ...Object.keys(USAGE_COLUMNS)], ...lines].map(csvLine).join('')
}
