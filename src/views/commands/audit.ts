import * as z from 'zod'
import { QUANTITIES, type Imbalance } from '../../ledger/balance.ts'
import {
  DIFFERENCES,
  KNOWN_DIFFERENCES,
  lastMinutes,
  servedLabels,
  spell,
  type Verdict,
} from '../../ledger/delta/compare-call.ts'
import type { SeenCall } from '../../ledger/call.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { byName, count, time, timeOrNull } from '../shapes.ts'

/** A listed call, its row in the ledger, and how they compare; `gone` if it was open, and the service no longer knows it. */
export type ComparedCall = {
  seen: SeenCall
  counted: TrackedCall | undefined
  verdict: Verdict | { kind: 'gone' }
  /** How many different rows the list has of it, if it has finished. */
  rows: number
}

/** The comparison of one target. */
export type TargetAudit = {
  target: string
  /** Why the comparison is incomplete; undefined if it is complete. */
  problem?: string | undefined
  /**
   * How far back calls were compared, and when the daemon's last successful poll ended (UNIX seconds); undefined if unknown.
   */
  horizon?: number
  lastPoll?: number | undefined
  /** Each call that was listed with a valid status. */
  calls: ComparedCall[]
  /** The number of invalid items in the list. */
  rejected: number
  /** The number of lost calls in the ledger. */
  lost: number
  /** The number of counted calls within the horizon that the service no longer lists; undefined if the list is incomplete. */
  unlisted?: number | undefined
  /** Whether a daemon polls the target now; undefined if nothing differed. */
  daemonPolls?: boolean | undefined
  /** The list was read back to the horizon only, and no sweep has verified its order. */
  orderUnverified: boolean
  /** How many differing calls were not requested again, because there were too many. */
  notRequested: number
  /** Where the counters differ from the sums of the calls; undefined if the store does not know the target. */
  imbalances?: Imbalance[]
}

const RESULTS = ['equal', 'open', 'new', 'note', 'difference', 'baseline', 'ignored', 'lost', 'gone'] as const

const value = z.union([z.string(), z.number()])

/** A call that differs, without user IDs. */
const reportedCall = z.object({
  call_id: z.string().nullable().describe('Null if the ledger does not know the call'),
  session_id: z.string(),
  discrepancies: z.array(
    z.object({
      what: z.enum(DIFFERENCES),
      counted: value,
      served: value,
      known: z.enum(KNOWN_DIFFERENCES).exactOptional().describe('The anomaly with which the ledger counted it'),
    }),
  ),
})
export type ReportedCall = z.output<typeof reportedCall>

const sums = z.object({
  calls: count,
  call_audio_minutes: z.number(),
  call_video_minutes: z.number(),
  participant_audio_minutes: z.number(),
  participant_video_minutes: z.number(),
})
export type AuditSums = z.output<typeof sums>

const labelSums = z.object({ labels: z.string(), ledger: sums, service: sums })
type LabelSums = z.output<typeof labelSums>

const targetAudit = z.object({
  target: z.string(),
  equal: z
    .boolean()
    .describe('Everything was compared, nothing differs, and the counters equal the sums of the calls, if known'),
  problem: z.string().nullable(),
  horizon: time.nullable(),
  last_successful_poll: time.nullable(),
  daemon_polls: z.boolean().nullable().describe('Null if nothing differed, so that the audit did not wait for a poll'),
  listed: z
    .object(byName(RESULTS, () => count))
    .describe('How many listed calls there are for each result of the comparison'),
  finished_rows: count.describe('How many different rows of finished calls the list has'),
  finished_calls: count.describe('How many calls callwatch takes these rows for: fewer are a difference'),
  invalid_items: count,
  lost: count,
  no_longer_listed: count.nullable(),
  not_requested_again: count,
  order_unverified: z
    .boolean()
    .describe('The list was read back to the horizon only, and no sweep has verified its order'),
  balanced: z
    .boolean()
    .nullable()
    .describe('Whether the counters equal the sums of all calls; null if the store does not know the target'),
  imbalances: z.array(z.object({ quantity: z.enum(QUANTITIES), counters: z.number(), calls: z.number() })),
  differences: z.array(reportedCall),
  notes: z.array(reportedCall),
  sums: z.array(labelSums).describe('Finished calls and their minutes, by labels'),
})
export type AuditReport = z.output<typeof targetAudit>

/** The output of `audit --json`. Times are ISO 8601. */
export const audit = z.object({ equal: z.boolean(), targets: z.array(targetAudit) })

export function auditView(targets: AuditReport[]): z.output<typeof audit> {
  return { equal: targets.every(({ equal }) => equal), targets }
}

export function targetAuditView(audit: TargetAudit): AuditReport {
  const listed = byName(RESULTS, () => 0)
  for (const { verdict } of audit.calls) listed[verdict.kind] += 1
  const differences = reportedOf(audit, 'difference')
  return {
    target: audit.target,
    equal: audit.problem === undefined && differences.length === 0 && (audit.imbalances ?? []).length === 0,
    problem: audit.problem ?? null,
    horizon: timeOrNull(audit.horizon),
    last_successful_poll: timeOrNull(audit.lastPoll),
    daemon_polls: audit.daemonPolls ?? null,
    listed,
    finished_rows: audit.calls.reduce((sum, { rows }) => sum + rows, 0),
    finished_calls: audit.calls.filter(({ rows }) => rows > 0).length,
    invalid_items: audit.rejected,
    lost: audit.lost,
    no_longer_listed: audit.unlisted ?? null,
    not_requested_again: audit.notRequested,
    order_unverified: audit.orderUnverified,
    balanced: audit.imbalances === undefined ? null : audit.imbalances.length === 0,
    imbalances: audit.imbalances ?? [],
    differences,
    notes: reportedOf(audit, 'note'),
    sums: sumsByLabels(audit.calls),
  }
}

function reportedOf({ calls }: TargetAudit, kind: 'difference' | 'note'): ReportedCall[] {
  return calls.flatMap(({ seen, counted, verdict }) => {
    if (!('discrepancies' in verdict) || verdict.kind !== kind) return []
    return { call_id: counted?.id ?? null, session_id: seen.session, discrepancies: verdict.discrepancies }
  })
}

function sumsByLabels(calls: readonly ComparedCall[]): LabelSums[] {
  const compared = calls.filter(({ verdict }) => ['equal', 'note', 'difference'].includes(verdict.kind))
  const finished = compared.flatMap(({ counted }) => (counted?.finish === undefined ? [] : counted))
  const ledger = Map.groupBy(finished, ({ finish }) => spell(finish!.labels))
  const service = Map.groupBy(compared, ({ seen, counted }) => spell(servedLabels(counted, seen)))
  return [...new Set([...ledger.keys(), ...service.keys()])].toSorted().map((labels) => ({
    labels,
    ledger: sumsOf((ledger.get(labels) ?? []).map(({ minutes }) => minutes)),
    service: sumsOf((service.get(labels) ?? []).map(({ seen, counted }) => lastMinutes(counted, seen))),
  }))
}

/** @param calls the minutes of each, in the order of MEASURES */
function sumsOf(calls: readonly (readonly number[])[]): AuditSums {
  const sum = (measure: number) => calls.reduce((all, minutes) => all + (minutes[measure] ?? 0), 0)
  return {
    calls: calls.length,
    call_audio_minutes: sum(0),
    call_video_minutes: sum(1),
    participant_audio_minutes: sum(2),
    participant_video_minutes: sum(3),
  }
}
