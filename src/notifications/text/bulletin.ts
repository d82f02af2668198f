import { plural } from '../../text/format.ts'
import { textOfReport } from '../../views/report-text.ts'
import type { ReportMessage } from '../message.ts'
import { firstOf, nameIn, oneLine } from './bounded.ts'

/** How many targets a report shows at most, and the characters of its texts. */
const MOST = { targets: 20, name: 100, line: 300 }

/** A report, as each receiver shows it. All texts are bounded. */
export type Bulletin = { title: string; parts: { name: string; lead: string; lines: string[] }[]; notes: string[] }

/** All targets together, then the first of them, those with the largest share of failed calls first. */
export function bulletinOf({ report, setUp }: ReportMessage): Bulletin {
  const { title, lead, lines, targets } = textOfReport(report)
  const { first, more } = firstOf(targets, MOST.targets)
  const all = { name: report.rows.length === 1 ? report.rows[0]!.target! : 'all targets', lead, lines }
  const parts = [all, ...first.map((target) => ({ ...target, lines: [] }))].map((part) => ({
    name: oneLine(part.name, MOST.name),
    lead: oneLine(part.lead, MOST.line),
    lines: part.lines.map((line) => oneLine(line, MOST.line)),
  }))
  if (setUp === undefined) return { title: nameIn(title, MOST.name), parts, notes: more }
  const [name = '', ...others] = setUp
  return {
    title: `callwatch watches ${others.length === 0 ? nameIn(name, MOST.name) : plural(setUp.length, 'target')}`,
    parts,
    notes: [
      ...more,
      `${title}, before the set-up: an alert needs a call that ends after it. callwatch sends this once.`,
    ],
  }
}

/** `Calls on Thursday, 2026-11-19 (UTC): 1,204 calls, …`, in one line. */
export function bulletinLine(message: ReportMessage): string {
  const { title, parts } = bulletinOf(message)
  return `${title}: ${parts[0]!.lead}`
}
