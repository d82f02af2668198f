import { lastMinutes, servedLabels, spell, type Discrepancy } from '../../ledger/delta/compare-call.ts'
import { isEqual } from '../../ledger/delta/minutes.ts'
import { isoTime } from '../../clock/times.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { idsOf } from '../../events/call-data.ts'
import { inOneLine } from '../../text/plain-text.ts'
import type { ComparedCall, TargetAudit } from './target.ts'

/** A call that differs, without user IDs. `call_id` is null if the ledger does not know the call. */
type ReportedCall = { call_id: string | null; session_id: string; discrepancies: Discrepancy[] }

const NO_SUMS = {
  calls: 0,
  call_audio_minutes: 0,
  call_video_minutes: 0,
  participant_audio_minutes: 0,
  participant_video_minutes: 0,
}

/** Finished calls and their minutes, by labels, as the ledger or the service has them. */
type Sums = typeof NO_SUMS
type LabelSums = { labels: string; ledger: Sums; service: Sums }

export type AuditReport = ReturnType<typeof auditReport>

/** The audit of one target, as `--json` prints it. Times are ISO 8601. */
export function auditReport(audit: TargetAudit) {
  /** How many listed calls there are for each result of the comparison. */
  const listed = { equal: 0, open: 0, new: 0, note: 0, difference: 0, baseline: 0, ignored: 0, lost: 0, gone: 0 }
  const differences: ReportedCall[] = []
  const notes: ReportedCall[] = []
  for (const { seen, counted, verdict } of audit.calls) {
    listed[verdict.kind] += 1
    if (!('discrepancies' in verdict)) continue
    const reported = reportedCall(seen.session, counted, verdict.discrepancies)
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

function reportedCall(session: string, counted: TrackedCall | undefined, discrepancies: Discrepancy[]): ReportedCall {
  return { call_id: counted?.id ?? null, session_id: session, discrepancies }
}

/** Whether the ledger and the service have the same sums for a label set. */
function sumsAgree({ ledger, service }: LabelSums): boolean {
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

/** The most calls of each kind that are listed. `--json` lists all. */
const MAX_LISTED = 50

/** The audit of one target as lines for people. */
export function auditLines(report: AuditReport): string[] {
  const { target, listed, problem, differences, notes, sums } = report
  const lines = [`${target}: ${auditVerdict(report)}`]
  if (problem !== null) lines.push(`  compared incompletely: ${problem}`)
  if (report.horizon === null) return [...lines, '']
  const unlisted =
    report.no_longer_listed === null ? '' : `, and ${report.no_longer_listed} finished ones that are no longer listed`
  const lastPoll = report.last_successful_poll ?? 'none yet'
  lines.push(
    `  back to ${report.horizon}; the daemon's last successful poll: ${lastPoll}`,
    `  listed: ${compared(report)} finished calls compared, ${listed.open} open and known, ${listed.baseline} baseline, ` +
      `${listed.ignored} before the horizon, ${listed.lost} lost in the ledger`,
    `  in the ledger: ${report.lost} lost calls${unlisted}`,
  )
  if (report.balanced === true) {
    lines.push('  the counters equal the sums of the calls in the store, including those deleted from its history')
  }
  for (const { quantity, counters, calls } of report.imbalances) {
    lines.push(
      `  DIFFERS ${quantity}: ${minutes(counters)} in the counters, ${minutes(calls)} in the calls of the store`,
    )
  }
  lines.push(
    ...noteLines(report),
    ...callLines('DIFFERS', differences),
    ...callLines('note', notes),
    ...(report.not_requested_again > 0
      ? [`  ${report.not_requested_again} of these calls were not requested again: they differ from the list`]
      : []),
    ...sums.map((sum) => `  ${sumsLine(sum)}`),
    '',
  )
  return lines
}

/** What is no difference, but may explain one. */
function noteLines({ daemon_polls, listed, order_unverified, invalid_items }: AuditReport): string[] {
  const notes: [isSo: boolean, text: string][] = [
    [daemon_polls === false, 'no daemon polled during the audit; what happened since its last poll is not counted yet'],
    [listed.new > 0, `${listed.new} open calls are not known yet; the next poll must find them`],
    [listed.gone > 0, `${listed.gone} calls were listed, but unknown when requested again`],
    [
      order_unverified,
      'order not verified: the list was read back to the horizon only, and was never read to its end to show that nothing newer follows; --full reads to the end',
    ],
    [invalid_items > 0, `${invalid_items} listed items were invalid`],
  ]
  return notes.filter(([isSo]) => isSo).map(([, text]) => `  note: ${text}`)
}

/** The result in one line. */
export function auditVerdict(report: AuditReport): string {
  const { equal, problem, differences } = report
  const { imbalances } = report
  if (equal) return `equal: all ${compared(report)} finished calls that the service lists match the ledger`
  const found = `${differences.length} ${differences.length === 1 ? 'call differs' : 'calls differ'}`
  if (differences.length > 0) return `NOT EQUAL: ${found} from the ledger`
  if (imbalances.length > 0) return 'NOT EQUAL: the counters differ from the sums of the calls in the store'
  return problem === null ? found : 'NOT VERIFIED: nothing differs, but the comparison is incomplete'
}

function compared({ listed }: AuditReport): number {
  return listed.equal + listed.note + listed.difference
}

function callLines(word: string, calls: readonly ReportedCall[]): string[] {
  const lines = calls.slice(0, MAX_LISTED).map(({ discrepancies, ...call }) => {
    const each = discrepancies.map(({ what, counted, served, known }) => {
      const text =
        what === 'call'
          ? `${served} at the service, unknown to the ledger`
          : `${what}: ledger ${counted}, service ${served}`
      return known === undefined ? text : `${text} (${known})`
    })
    return `  ${word} ${inOneLine(idsOf(call))}: ${each.join('; ')}`
  })
  const more = calls.length - lines.length
  return more > 0 ? [...lines, `  ${word} and ${more} more; --json lists all`] : lines
}

function sumsLine(sum: AuditReport['sums'][number]): string {
  const { labels, ledger, service } = sum
  if (sumsAgree(sum)) return `${labels.padEnd(24)} ${sumsText(ledger)}`
  return `${labels.padEnd(24)} ledger ${sumsText(ledger)}; service ${sumsText(service)}`
}

function sumsText(sums: Sums): string {
  const call = `${minutes(sums.call_audio_minutes)}/${minutes(sums.call_video_minutes)}`
  const participant = `${minutes(sums.participant_audio_minutes)}/${minutes(sums.participant_video_minutes)}`
  return `${sums.calls} calls, audio/video minutes ${call}, of participants ${participant}`
}

function minutes(value: number): string {
  return String(Math.round(value * 10_000) / 10_000)
}
