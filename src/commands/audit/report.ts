import { isEqual } from '../../ledger/delta/minutes.ts'
import { plural } from '../../text/format.ts'
import { inOneLine } from '../../text/plain-text.ts'
import type { AuditReport, AuditSums, ReportedCall } from '../../views/commands/audit.ts'
import { idsOf } from '../../views/call.ts'

/** The most calls of each kind that are listed. `--json` lists all. */
const MAX_LISTED = 50

/**
 * An audit as lines for people. Of several targets it begins with a summary, has one line for each that is equal, and ends with the details
 * of all others.
 */
export function auditLines(reports: readonly AuditReport[]): string[] {
  if (reports.length === 1) return reports.flatMap(targetLines)
  const of = Map.groupBy(reports, result)
  const number = (one: Result) => `${of.get(one)?.length ?? 0} ${one}`
  return [
    `${reports.length} targets: ${number('equal')}, ${number('NOT EQUAL')}, ${number('NOT VERIFIED')}`,
    ...(of.get('equal') ?? []).map((report) => `${report.target}: ${auditVerdict(report)}${numberOfNotes(report)}`),
    '',
    ...reports.filter(({ equal }) => !equal).flatMap(targetLines),
  ]
}

/** The audit of one target with its details. */
export function targetLines(report: AuditReport): string[] {
  const { target, listed, problem, differences, notes, sums } = report
  const lines = [`${target}: ${auditVerdict(report)}`]
  if (problem !== null) lines.push(`  compared incompletely: ${problem}`)
  if (report.horizon === null) return [...lines, '']
  const unlisted =
    report.no_longer_listed === null ? '' : `, and ${report.no_longer_listed} finished ones that are no longer listed`
  const lastPoll = report.last_successful_poll ?? 'none yet'
  lines.push(
    `  back to ${report.horizon}; the daemon's last successful poll: ${lastPoll}`,
    `  listed: ${report.finished_rows} rows of ${report.finished_calls} finished calls, and ${listedOpen(report)} calls in progress`,
    `  all of these, once compared: ${compared(report)} finished, ${listed.open + listed.new + listed.gone} in progress, ` +
      `${listed.baseline} baseline, ${listed.ignored} before the horizon, ${listed.lost} lost in the ledger`,
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

function numberOfNotes(report: AuditReport): string {
  const number = noteLines(report).length + report.notes.length
  return number === 0 ? '' : `; ${plural(number, 'note')}`
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

type Result = 'equal' | 'NOT EQUAL' | 'NOT VERIFIED'

function result({ equal, differences, imbalances }: AuditReport): Result {
  if (equal) return 'equal'
  return differences.length + imbalances.length > 0 ? 'NOT EQUAL' : 'NOT VERIFIED'
}

/** The result in one line. */
export function auditVerdict(report: AuditReport): string {
  return `${result(report)}: ${reason(report)}`
}

function reason(report: AuditReport): string {
  const { equal, differences, imbalances } = report
  const { length } = differences
  if (equal) return `all ${compared(report)} finished calls that the service lists match the ledger`
  if (length > 0) return `${length} ${length === 1 ? 'call differs' : 'calls differ'} from the ledger`
  if (imbalances.length > 0) return 'the counters differ from the sums of the calls in the store'
  return 'nothing differs, but the comparison is incomplete'
}

function compared({ listed }: AuditReport): number {
  return listed.equal + listed.note + listed.difference
}

/** Calls that were in progress when they were listed. Some have finished until they are compared. */
function listedOpen({ listed, finished_calls: finished }: AuditReport): number {
  return Object.values(listed).reduce((sum, calls) => sum + calls, -finished)
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

function sumsLine({ labels, ledger, service }: AuditReport['sums'][number]): string {
  const served = Object.values(service)
  if (Object.values(ledger).every((sum, i) => isEqual(sum, served[i]!)))
    return `${labels.padEnd(24)} ${sumsText(ledger)}`
  return `${labels.padEnd(24)} ledger ${sumsText(ledger)}; service ${sumsText(service)}`
}

function sumsText(sums: AuditSums): string {
  const call = `${minutes(sums.call_audio_minutes)}/${minutes(sums.call_video_minutes)}`
  const participant = `${minutes(sums.participant_audio_minutes)}/${minutes(sums.participant_video_minutes)}`
  return `${sums.calls} calls, audio/video minutes ${call}, of participants ${participant}`
}

function minutes(value: number): string {
  return String(Math.round(value * 10_000) / 10_000)
}
