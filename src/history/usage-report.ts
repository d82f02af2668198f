import { isoTime } from '../clock/iso-time.ts'
import type { RowReader } from '../store/row-reader.ts'
import { csvLine } from '../text/csv.ts'
import { endOf, historyScope, QueryError } from './history-scope.ts'
import { coverageOf, type Coverage } from './coverage.ts'
import { USAGE_STATUSES } from './sums.ts'
import { usageOf, type UsageKey, type UsageQuery, type UsageRow } from './usage.ts'

/** The output of `callwatch report --json` and `/api/v1/report`. Times are ISO 8601 in UTC. */
export type UsageReport = { since: string; until: string; zone: string; coverage: CoverageView; rows: UsageRow[] }

export type CoverageView = ReturnType<typeof coverageView>

/** {@link Coverage} for programs. */
export function coverageView({ blindSeconds, blind }: Coverage) {
  return {
    /** How long the calls of at least one target are incomplete. */
    blind_seconds: blindSeconds,
    blind: blind.map(({ target, kind, from, to }) => ({ target, kind, since: isoTime(from), until: isoTime(to) })),
  }
}

/**
 * The report of a period. Without a start, it begins at the oldest call; without an end, it lasts until now.
 *
 * @param configured the targets of the configuration
 * @param now the host's clock (UNIX seconds)
 * @throws {QueryError} for an unknown target
 * @throws {StoreError} if the store cannot be read now
 */
export async function usageReport(
  store: RowReader,
  { from: begin, to, ...query }: Omit<UsageQuery, 'from' | 'to'> & { from: number | undefined; to: number | undefined },
  { configured, now }: { configured: readonly string[]; now: number },
): Promise<UsageReport> {
  const { zone, targets } = query
  await expectTargets(store, targets ?? [], configured)
  const isOpen = begin === undefined || to === undefined
  const { oldest, newest } = isOpen ? await historyScope(store, { targets }, 0) : { oldest: begin, newest: to }
  const from = begin ?? Math.min(now, Math.floor(oldest))
  const coverage = await coverageOf(store, { from, to: to ?? Infinity }, { targets, configured, now })
  return {
    since: isoTime(from),
    until: isoTime(to ?? endOf({ newest }, now)),
    zone,
    coverage: coverageView(coverage),
    rows: await usageOf(store, { ...query, from, to: to ?? Infinity }),
  }
}

/** @throws {QueryError} for a target that neither the configuration nor the store has */
export async function expectTargets(
  store: RowReader,
  wanted: readonly string[],
  configured: readonly string[],
): Promise<void> {
  if (wanted.every((name) => configured.includes(name))) return
  const stored = await store.rows('SELECT name FROM callwatch.targets', [])
  const known = new Set([...configured, ...stored.map(({ name }) => String(name))])
  const unknown = wanted.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new QueryError(`there is no target ${unknown}; the targets are ${[...known].join(', ')}`)
}

/** The columns of a report's row, each as one value. */
export const USAGE_COLUMNS: Readonly<Record<string, (row: UsageRow) => string | number | null>> = {
  ...Object.fromEntries(USAGE_STATUSES.map((status) => [status, ({ calls }: UsageRow) => calls[status]])),
  audio_minutes: ({ minutes }) => minutes.audio,
  video_minutes: ({ minutes }) => minutes.video,
  participant_audio_minutes: ({ participant_minutes: { audio } }) => audio,
  participant_video_minutes: ({ participant_minutes: { video } }) => video,
  failure_ratio: (row) => row.failure_ratio,
  mean_duration_seconds: (row) => row.duration_seconds.mean,
  p50_duration_seconds: (row) => row.duration_seconds.p50,
  p95_duration_seconds: (row) => row.duration_seconds.p95,
  noticed_late: (row) => row.noticed_late,
}

/**
 * The rows as CSV with a header. Each row says how much of the whole period is not covered. Without rows, an empty row says
 * so.
 */
export function usageCsv({ rows, coverage }: UsageReport, by: readonly UsageKey[]): string {
  const lines = rows.map((row) => [
    ...by.map((key) => row[key]),
    ...Object.values(USAGE_COLUMNS).map((valueOf) => valueOf(row)),
    coverage.blind_seconds,
  ])
  const header = [...by, ...Object.keys(USAGE_COLUMNS), 'blind_seconds']
  if (lines.length === 0) lines.push([...header.slice(1).map(() => null), coverage.blind_seconds])
  return [header, ...lines].map(csvLine).join('')
}
