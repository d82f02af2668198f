import { callsWith, formatShare, plural } from '../../text/format.ts'
import { textOfReport } from '../../views/report-text.ts'
import type { ReportMessage, UsualShare } from '../message.ts'
import { firstOf, nameIn, oneLine } from './bounded.ts'

/** How many targets a report shows at most, and the characters of its texts. */
const MOST = { targets: 20, name: 100, line: 300, named: 3 }

/** A report, as each receiver shows it. All texts are bounded. */
export type Bulletin = { title: string; parts: { name: string; lead: string; lines: string[] }[]; notes: string[] }

/** All targets together, then the first of them, those with the largest share of failed calls first. */
export function bulletinOf({ report, setUp, usual = [] }: ReportMessage): Bulletin {
  const { title, lead, lines, targets } = textOfReport(report)
  const { first, more } = firstOf(targets, MOST.targets)
  const name = report.rows.length === 1 ? report.rows[0]!.target! : 'all targets'
  const all = { name, lead, lines: [...lines, ...usualLines(usual, setUp?.length === 1)] }
  const parts = [all, ...first.map((target) => ({ ...target, lines: [] }))].map((part) => ({
    name: oneLine(part.name, MOST.name),
    lead: oneLine(part.lead, MOST.line),
    lines: part.lines.map((line) => oneLine(line, MOST.line)),
  }))
  if (setUp === undefined) return { title: nameIn(title, MOST.name), parts, notes: more }
  const [one = '', ...others] = setUp
  return {
    title: `callwatch watches ${others.length === 0 ? nameIn(one, MOST.name) : plural(setUp.length, 'target')}`,
    parts,
    notes: [
      ...more,
      `${title}, before the set-up: an alert needs a call that ends after it. callwatch sends this once.`,
    ],
  }
}

/** `HighFailureRate: usually 44% of ringing calls fail on shop-01, so that it fires above 59%; 5% on shop-02, above 30%; and 7 more targets`. */
function usualLines(usual: readonly UsualShare[], isAlone: boolean): string[] {
  return [...Map.groupBy(usual, ({ alert }) => alert)].map(([alert, all]) => {
    const named = all.slice(0, MOST.named).map(({ target, of, reason, usual: share, threshold }, i) => {
      const on = isAlone ? '' : ` on ${target}`
      const what = i > 0 ? '' : ` of ${callsWith(of)} ${reason === 'any' ? 'fail' : `are ${reason}`}`
      return `${formatShare(share)}${what}${on}, ${i === 0 ? 'so that it fires ' : ''}above ${formatShare(threshold)}`
    })
    const more = all.length - named.length
    return `${alert}: usually ${[...named, ...(more > 0 ? [`and ${plural(more, 'more target')}`] : [])].join('; ')}`
  })
}

/** `Calls on Thursday, 2026-11-19 (UTC): 1,204 calls, …`, in one line. */
export function bulletinLine(message: ReportMessage): string {
  const { title, parts } = bulletinOf(message)
  return `${title}: ${parts[0]!.lead}`
}
