import { lastMinutes, servedLabels, spell, type Discrepancy } from '../../ledger/delta/compare-call.ts'
import { isEqual } from '../../ledger/delta/minutes.ts'
import { isoTime } from '../../clock/iso-time.ts'
import type { ComparedCall, TargetAudit } from './target.ts'

/** A call that differs, without user IDs. */
export type ReportedCall = { session_id: string; discrepancies: Discrepancy[] }

const NO_SUMS = {
  calls: 0,
  call_audio_minutes: 0,
  call_video_minutes: 0,
  participant_audio_minutes: 0,
  participant_video_minutes: 0,
}

/** Finished calls and their minutes, by labels, as the ledger or the service has them. */
export type Sums = typeof NO_SUMS
type LabelSums = { labels: string; ledger: Sums; service: Sums }

export type AuditReport = ReturnType<typeof auditReport>

/** The audit of one target, as `--json` prints it. Times are ISO 8601. */
export function auditReport(audit: TargetAudit) {
  /** How many listed calls there are for each result of the comparison. */
  const listed = { equal: 0, open: 0, new: 0, note: 0, difference: 0, baseline: 0, ignored: 0, lost: 0, gone: 0 }
  const differences: ReportedCall[] = []
  const notes: ReportedCall[] = []
  for (const { seen, verdict } of audit.calls) {
    listed[verdict.kind] += 1
    if (!('discrepancies' in verdict)) continue
    const reported = { session_id: seen.id, discrepancies: verdict.discrepancies }
    if (verdict.kind === 'note') notes.push(reported)
    else differences.push(reported)
  }
  return {
    target: audit.target,
    /** Whether everything was compared, nothing differs, and the counters equal the sums of the calls, if known. */
    equal: audit.problem === undefined && differences.length === 0 && (audit.imbalances ?? []).length === 0,
    problem: audit.problem ?? null,
    horizon: timeOrNull(audit.horizon),
    last_successful_poll: timeOrNull(audit.lastPoll),
    /** Whether a daemon polls the target now; null if nothing differed, so that the audit did not wait for a poll. */
    daemon_polls: audit.daemonPolls ?? null,
    listed,
    invalid_items: audit.rejected,
    lost: audit.lost,
    no_longer_listed: audit.unlisted ?? null,
    not_requested_again: audit.notRequested,
    /** The list was read back to the horizon only, and no sweep has verified its order. */
    order_unverified: audit.orderUnverified,
    /** Whether the counters equal the sums of all calls, including deleted ones; null if the store does not know the target. */
    balanced: audit.imbalances === undefined ? null : audit.imbalances.length === 0,
    imbalances: audit.imbalances ?? [],
    differences,
    notes,
    sums: sumsByLabels(audit.calls),
  }
}

/** Whether the ledger and the service have the same sums for a label set. */
export function sumsAgree({ ledger, service }: LabelSums): boolean {
  const served = Object.values(service)
  return Object.values(ledger).every((sum, i) => isEqual(sum, served[i]!))
}

function sumsByLabels(calls: readonly ComparedCall[]): LabelSums[] {
  const sums = new Map<string, LabelSums>()
  const sumsOf = (labels: string) => {
    const found = sums.get(labels) ?? { labels, ledger: { ...NO_SUMS }, service: { ...NO_SUMS } }
    sums.set(labels, found)
    return found
  }
  for (const { seen, counted, verdict } of calls) {
    if (verdict.kind !== 'equal' && verdict.kind !== 'note' && verdict.kind !== 'difference') continue
    const { finish } = counted ?? {}
    if (finish !== undefined) addTo(sumsOf(spell(finish.labels)).ledger, counted!.counted)
    addTo(sumsOf(spell(servedLabels(counted, seen))).service, lastMinutes(counted, seen))
  }
  return [...sums.values()].toSorted((a, b) => (a.labels < b.labels ? -1 : 1))
}

/** @param minutes in the order of MEASURES */
function addTo(sums: Sums, minutes: readonly number[]): void {
  const [callAudio = 0, callVideo = 0, participantAudio = 0, participantVideo = 0] = minutes
  sums.calls += 1
  sums.call_audio_minutes += callAudio
  sums.call_video_minutes += callVideo
  sums.participant_audio_minutes += participantAudio
  sums.participant_video_minutes += participantVideo
}

function timeOrNull(time: number | undefined): string | null {
  return time === undefined ? null : isoTime(time)
}
