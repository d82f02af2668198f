import { defaultRules } from './default-rules.ts'

/** The rules that have a page in the runbooks (docs/runbooks.md), at `/runbooks/NAME`. */
const WITH_RUNBOOK = new Set(defaultRules.map(({ name }) => name))

/** The rule's own runbook, or else its page among those at an address; undefined without either. */
export function runbookOf(
  rule: { name: string; runbookUrl?: string | undefined },
  runbooks?: string,
): string | undefined {
  const { name, runbookUrl } = rule
  return runbookUrl ?? (WITH_RUNBOOK.has(name) ? runbookPage(name, runbooks) : undefined)
}

/** @param runbooks the address of the pages; undefined if it is not known */
export function runbookPage(alert: string, runbooks: string | undefined): string | undefined {
  return runbooks && `${runbooks.replace(/\/+$/, '')}/${alert}`
}
