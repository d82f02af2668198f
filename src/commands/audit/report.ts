import type { Imbalance } from '../../ledger/balance.ts'
import { isEqual, lastMinutes, servedLabels, spell, type Discrepancy } from '../../ledger/delta/compare-call.ts'
import { isoTime } from '../../clock/iso-time.ts'
import type { ComparedCall, TargetAudit } from './target.ts'

/** A call that differs, without user IDs. */
export type ReportedCall = { session_id: string; discrepancies: Discrepancy[] }

/** Finished calls and their minutes, under the labels that the ledger or the service has for them. */
export type Sums = {
  calls: number
  call_audio_minutes: number
  call_video_minutes: number
  participant_audio_minutes: number
  participant_video_minutes: number
}

/** The audit of one target, as `--json` prints it. Times are ISO 8601. */
export type AuditReport = {
  target: string
  /** Everything was compared, nothing differs, and the counters equal the sums of the calls, as far as those are known. */
  equal: boolean
  problem: string | null
  horizon: string | null
  last_successful_poll: string | null
  /** Whether a daemon polls it now; null where nothing differed, so that the audit did not wait for a poll. */
  daemon_polls: boolean | null
  /** Listed calls by how they compare. */
  listed: Record<ComparedCall['verdict']['kind'], number>
  invalid_items: number
  lost: number
  no_longer_listed: number | null
  not_requested_again: number
  /** The list was read back to the horizon only, and its order was never verified to the end. */
  order_unverified: boolean
  /** Whether the counters equal the sums of all calls, including those whose rows were deleted; null for a target that the store does not know. */
  balanced: boolean | null
  imbalances: Imbalance[]
  differences: ReportedCall[]
  notes: ReportedCall[]
  sums: { labels: string; ledger: Sums; service: Sums }[]
}

export function auditReport(audit: TargetAudit): AuditReport {
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
    equal: audit.problem === undefined && differences.length === 0 && (audit.imbalances ?? []).length === 0,
    problem: audit.problem ?? null,
    horizon: timeOrNull(audit.horizon),
    last_successful_poll: timeOrNull(audit.lastPoll),
    daemon_polls: audit.daemonPolls ?? null,
    listed,
    invalid_items: audit.rejected,
    lost: audit.lost,
    no_longer_listed: audit.unlisted ?? null,
    not_requested_again: audit.notRequested,
    order_unverified: audit.orderUnverified,
    balanced: audit.imbalances === undefined ? null : audit.imbalances.length === 0,
    imbalances: audit.imbalances ?? [],
    differences,
    notes,
    sums: sumsByLabels(audit.calls),
  }
}

/** Whether the ledger and the service have the same sums for a set of labels. */
export function sumsAgree({ ledger, service }: AuditReport['sums'][number]): boolean {
  const minutes = [
    'call_audio_minutes',
    'call_video_minutes',
    'participant_audio_minutes',
    'participant_video_minutes',
  ] as const
  return ledger.calls === service.calls && minutes.every((name) => isEqual(ledger[name], service[name]))
}

function sumsByLabels(calls: readonly ComparedCall[]): AuditReport['sums'] {
  const sums = new Map<string, AuditReport['sums'][number]>()
  const sumsOf = (labels: string) => {
    const found = sums.get(labels) ?? { labels, ledger: noSums(), service: noSums() }
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

function noSums(): Sums {
  return {
    calls: 0,
    call_audio_minutes: 0,
    call_video_minutes: 0,
    participant_audio_minutes: 0,
    participant_video_minutes: 0,
  }
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
