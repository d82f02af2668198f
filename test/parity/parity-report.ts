import type { Reading } from '../../src/alerts/reading.ts'
import { CAUSES, type Comparison, type Difference } from './compare-verdicts.ts'

/** Every difference with its cause, and how many there are: for a reader, and kept as a file that is reviewed. */
export function parityReport(comparisons: readonly Comparison[]): string {
  return [
    '# Where Prometheus and callwatch judge the seeded history differently (test/parity). The causes are explained in',
    '# compare-verdicts.ts. A line is one evaluation or several in a row: when, which alert, where it fires, for how long, why;',
    '# then the evaluation that made the difference, with what each of the two counted in its window.',
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
    ` (${timeOf(evidence.at)} callwatch ${readingOf(evidence.looks)}, Prometheus ${readingOf(evidence.scrapes)})`
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

function readingOf(reading: Reading | undefined): string {
  return reading === undefined ? 'none' : `${reading.value.toFixed(3)} of ${reading.calls}`
}

function timeOf(at: number): string {
  const twoDigits = (n: number) => String(Math.floor(n)).padStart(2, '0')
  return `day ${Math.floor(at / 86_400)} ${twoDigits((at % 86_400) / 3600)}:${twoDigits((at % 3600) / 60)}`
}
