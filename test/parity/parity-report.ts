import type { RuleValue } from '../../src/alerts/rule-value.ts'
import { CAUSES, type Comparison, type Difference } from './compare-alerts.ts'

/** Lists every difference with its cause, and the totals. The report is a file under review. */
export function parityReport(comparisons: readonly Comparison[]): string {
  return [
    '# Where alerts of Prometheus and callwatch differ in the seeded history (test/parity). compare-alerts.ts explains the',
    '# causes. A line is one evaluation or several in a row: when, where the alert fires, how many evaluations, and the cause;',
    '# then the evaluation that caused the difference, with the ratio and the calls in each window.',
    '',
    ...comparisons.flatMap(comparisonLines),
    '',
    ...totalLines(comparisons),
    '',
  ].join('\n')
}

export function evaluationsBy(cause: Difference['cause'], comparisons: readonly Comparison[]): number {
  return sum(comparisons.flatMap(({ differences }) => differences.filter((each) => each.cause === cause)))
}

function comparisonLines({ alert, compared, bothFiring, differences }: Comparison): string[] {
  const head = `${alert}: ${compared} evaluations, both fire at ${bothFiring}, they differ at ${sum(differences)}`
  return [head, ...differences.map(differenceLine)]
}

function differenceLine({ at, evaluations, firesIn, cause, evidence }: Difference): string {
  const made =
    evidence &&
    ` (${timeOf(evidence.at)} callwatch ${shownValue(evidence.callwatch)}, Prometheus ${shownValue(evidence.prometheus)})`
  return `  ${timeOf(at)}  only in ${firesIn.padEnd(10)} ${String(evaluations).padStart(2)} x  ${cause}${made ?? ''}`
}

function totalLines(comparisons: readonly Comparison[]): string[] {
  const compared = comparisons.reduce((total, comparison) => total + comparison.compared, 0)
  return [
    `evaluations compared: ${compared}`,
    ...CAUSES.map((cause) => `differ, ${cause}: ${evaluationsBy(cause, comparisons)}`),
  ]
}

function sum(differences: readonly Difference[]): number {
  return differences.reduce((total, { evaluations }) => total + evaluations, 0)
}

function shownValue(ruleValue: RuleValue | undefined): string {
  return ruleValue === undefined ? 'none' : `${ruleValue.value.toFixed(3)} of ${ruleValue.calls}`
}

function timeOf(at: number): string {
  const twoDigits = (n: number) => String(Math.floor(n)).padStart(2, '0')
  return `day ${Math.floor(at / 86_400)} ${twoDigits((at % 86_400) / 3600)}:${twoDigits((at % 3600) / 60)}`
}
