import { failureRatio } from '../../ledger/failure-ratio.ts'
import { windows } from '../../ledger/windows.ts'
import { clockOf, formatNumber, plural } from '../../text/format.ts'
import { targetView } from '../../views/state/target.ts'
import type { TargetStatus } from '../../pipeline/target.ts'
import type { AuditReport } from '../../views/commands/audit.ts'
import { auditVerdict, targetLines } from '../audit/report.ts'
import type { Finish } from '../../ledger/tracked-call.ts'
import type { Comparison } from './compare-with-simulator.ts'
import type { EventReceiver } from './event-receiver.ts'

type Text = { text: string }
/** What a block of a message to Slack may have: texts, and buttons, which have an address. */
export type SlackBlock = { text?: Text; fields?: Text[]; elements?: { text: string | Text; url?: string }[] }

/** The message that a Slack channel shows, as text: its marks and addresses are taken out. */
export function slackLines(blocks: readonly SlackBlock[]): string[] {
  const texts = blocks.flatMap(({ text, fields = [], elements = [] }) => [
    ...(text === undefined ? [] : [plain(text)]),
    ...fields.map((field) => plain(field).replace('\n', ': ')),
    ...(elements.length === 0 ? [] : [elements.map(elementText).join('  ')]),
  ])
  return ['', '  ┌─ to Slack', ...texts.flatMap((text) => text.split('\n')).map((line) => `  │ ${line}`), '  └─', '']
}

function elementText({ text, url }: NonNullable<SlackBlock['elements']>[number]): string {
  const shown = plain(typeof text === 'string' ? { text } : text)
  return url === undefined ? shown : `[${shown}]`
}

/** A text without Slack's marks. */
function plain({ text }: Text): string {
  const unmarked = text.replaceAll(/<[^|>]*\|([^>]*)>/g, '$1').replaceAll(/\*([^*\n]+)\*/g, '$1')
  return unmarked.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** `21:10:04 UTC  in progress 25, finished 3,351; failed: 22.5% of 965 in the last 15m`. @param now UNIX seconds */
export function figuresLine(target: TargetStatus, now: number): string {
  const view = targetView(target)
  const { ended, unanswered, rejected, canceled } = view.finished
  const finished = formatNumber(ended + unanswered + rejected + canceled)
  return `${clockOf(now, now)}  in progress ${view.in_progress}, finished ${finished}; failed: ${failedText(target)}`
}

/** How many of the calls that finished of late have failed. */
function failedText(target: TargetStatus): string {
  const [window, counts] = windows(target.ledger)[0]!
  if (counts.total === 0) return 'no calls yet'
  return `${(100 * failureRatio(counts, 'any')).toFixed(1)}% of ${counts.total} in the last ${window}`
}

/** The results at the end: the audit, and how many events were logged and arrived. */
type DemoEnd = { audit: AuditReport; logged: number; received: ReturnType<EventReceiver['counts']> }

/** The counters, the lag, whether the counters equal what the simulator recorded, and the results at the end. */
export function demoSummary(
  target: TargetStatus,
  { series, differences }: Comparison,
  lag?: string,
  end?: DemoEnd,
): string[] {
  const view = targetView(target)
  const { ended, unanswered, rejected, canceled } = view.finished
  const minutes = `audio ${view.minutes.audio.toFixed(1)}, video ${view.minutes.video.toFixed(1)}`
  return [
    '',
    `  calls     started ${view.started}, in progress ${view.in_progress}, ended ${ended}, unanswered ${unanswered}, rejected ${rejected}, canceled ${canceled}`,
    `  minutes   ${minutes}`,
    `  failed    ${failedText(target)}`,
    ...(lag === undefined ? [] : [lag]),
    ...(end === undefined ? [] : [eventsSummary(end), ...auditSummary(end.audit)]),
    differences.length === 0
      ? `  simulator equal: all ${series} exact series and failure ratios are what it recorded`
      : `  simulator NOT EQUAL in ${differences.length} of ${series} exact series and failure ratios:`,
    ...differences
      .slice(0, 5)
      .map(({ series: name, recorded, counted }) => `            ${name}: ${recorded} recorded, ${counted} counted`),
    '',
  ]
}

/** Whether every event in the log arrived at the webhook. */
export function areDelivered({ logged, received: { events, refused } }: Omit<DemoEnd, 'audit'>): boolean {
  return events === logged && refused === 0
}

function eventsSummary(end: DemoEnd): string {
  const { logged, received } = end
  if (areDelivered(end))
    return `  events    all ${plural(logged, 'event')} of the log were delivered to the webhook, and verified`
  return `  events    NOT DELIVERED: ${received.events} of ${plural(logged, 'event')} of the log arrived at the webhook, which refused ${received.refused}`
}

/** The audit's verdict, with its findings unless all is equal. */
function auditSummary(report: AuditReport): string[] {
  const found = report.equal ? [] : targetLines(report).slice(1, -1)
  return [`  audit     ${auditVerdict(report)}`, ...found.map((line) => `          ${line}`)]
}

export type Lags = ReturnType<typeof newLags>

/**
 * How soon callwatch notices the ends of calls: at first by polls alone, then with webhooks of the service.
 *
 * @param begun UNIX seconds; earlier ends do not count
 */
export function newLags(begun: number) {
  const phases: { name: string; from: number; lags: number[] }[] = [{ name: 'by polls alone', from: begun, lags: [] }]
  return {
    /** @param now UNIX seconds */
    note: (finishes: readonly Finish[], now: number): void => {
      for (const { at } of finishes) phases.findLast(({ from }) => from <= at)?.lags.push(now - at)
    },
    /** @param from UNIX seconds, from which on the service sends webhooks */
    withWebhooks: (from: number) => void phases.push({ name: "with the service's webhooks", from, lags: [] }),
    /** One line; undefined before the first end. */
    line: ({ sent, lost }: { sent: number; lost: readonly unknown[] }): string | undefined => {
      const medians = phases.flatMap(({ name, lags }) =>
        lags.length === 0 ? [] : [`${lags.toSorted((a, b) => a - b)[lags.length >> 1]!.toFixed(1)} s ${name}`],
      )
      if (medians.length === 0) return undefined
      const came = sent === 0 ? '' : ` (${sent} came, ${lost.length} were lost)`
      return `  lag       half of the ends are noticed within ${medians.join(', ')}${came}`
    },
  }
}
