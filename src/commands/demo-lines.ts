import type { Notification } from '../alerts/notification.ts'
import { failureRatio } from '../ledger/failure-ratio.ts'
import type { Transition } from '../ledger/state.ts'
import { windows } from '../metrics/derived-metrics.ts'
import { descriptionOf, formatTime, splitOf, summaryOf } from '../notify/text/notification-text.ts'
import { contributorOf, trendOf } from '../notify/text/evidence-text.ts'
import { targetView, type WatchedTarget } from '../web/views.ts'
import { auditLines, auditVerdict } from './audit-lines.ts'
import type { AuditReport } from './audit-report.ts'
import type { Comparison } from './compare-with-truth.ts'

/** `08:15:30  audio call  with user   initiated → ongoing  v1.us.…`; an inferred step says so. */
export function transitionLine({ call, from, to, observed, at }: Transition): string {
  const { type, mode, receiverType } = call.labels
  const time = formatTime(at).slice(11, 19)
  const step = `${from} → ${to}`.padEnd(24)
  return `${time}  ${`${type} ${mode}`.padEnd(16)}${receiverType.padEnd(7)}${step}${call.id}${observed ? '' : '  (inferred)'}`
}

/** What the team's channel would be told. */
export function notificationLines(notification: Notification): string[] {
  const { kind, severity, alert, target, description } = notification
  const split = splitOf(notification)
  const trend = trendOf(notification)
  const contributor = contributorOf(notification)
  const lines = [
    `${kind === 'firing' ? severity.toUpperCase() : kind.toUpperCase()}: ${alert} on ${target}`,
    summaryOf(notification),
    ...(split === undefined ? [] : [`how calls ended: ${split}`]),
    ...(contributor === undefined ? [] : [contributor.join(': ')]),
    ...(trend === undefined ? [] : [`trend: ${trend}`]),
    ...(kind !== 'firing' || description === undefined ? [] : [descriptionOf(notification)!]),
  ]
  return ['', '  ┌─ to the channel', ...lines.map((line) => `  │ ${line}`), '  └─', '']
}

/** The counters, and whether they equal the truth; with an audit, what that says of each call beside it. */
export function demoSummary(
  watched: WatchedTarget,
  { series, differences }: Comparison,
  audit?: AuditReport,
): string[] {
  const view = targetView(watched)
  const { ended, unanswered, rejected, canceled } = view.finished
  const [window, counts] = windows(watched.ledger)[0]!
  const ratio =
    counts.total === 0 ? 'no calls yet' : `${(100 * failureRatio(counts, 'any')).toFixed(1)} % of ${counts.total}`
  const minutes = `audio ${view.minutes.audio.toFixed(1)}, video ${view.minutes.video.toFixed(1)}`
  return [
    '',
    `  calls     started ${view.started}, in progress ${view.in_progress}, ended ${ended}, unanswered ${unanswered}, rejected ${rejected}, canceled ${canceled}`,
    `  minutes   ${minutes}`,
    `  failed    ${ratio} calls that finished in the last ${window}`,
    ...(audit === undefined ? [] : auditSummary(audit)),
    differences.length === 0
      ? `  truth     equal: all ${series} exact series and failure ratios are what the simulator says happened`
      : `  truth     NOT EQUAL in ${differences.length} of ${series} exact series and failure ratios:`,
    ...differences
      .slice(0, 5)
      .map(({ series: name, truth, counted }) => `            ${name}: ${truth} happened, ${counted} counted`),
    '',
  ]
}

/** Audit's verdict, and where that is not that all is equal, all that it found. */
function auditSummary(report: AuditReport): string[] {
  const found = report.equal ? [] : auditLines(report).slice(1, -1)
  return [`  audit     ${auditVerdict(report)}`, ...found.map((line) => `          ${line}`)]
}
