/** The rules that have a page in the runbooks (docs/runbooks.md), at `/runbooks/NAME`: those of default-rules.ts. */
const WITH_RUNBOOK = [
  'HighFailureRate',
  'VeryHighFailureRate',
  'NoCalls',
  'FewerCalls',
  'RingingTooLong',
  'StuckCalls',
  'NoGoodPoll',
  'ServiceErrors',
]

/**
 * The rule's own runbook, or else its page; undefined without either.
 *
 * @param runbooks the address of the pages; undefined if it is not known
 */
export function runbookOf(
  rule: { name: string; runbookUrl?: string | undefined },
  runbooks?: string,
): string | undefined {
  const { name, runbookUrl } = rule
  return runbookUrl ?? (WITH_RUNBOOK.includes(name) ? runbooks && `${runbooks.replace(/\/+$/, '')}/${name}` : undefined)
}
