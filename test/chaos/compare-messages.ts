import type { Accepted } from './failing-slack.ts'

export type MessageComparison = {
  distinct: number
  lost: number
  /** Messages that came again. */
  duplicates: number
  /** What is wrong, a line each. */
  problems: string[]
}

/**
 * Compares what the channel accepted with what was committed to the outbox. Firing and end alternate for each alert, so
 * the same kind twice in a row is one message that came again: it may where another process than the first sent it.
 */
export function compareMessages(
  accepted: readonly Accepted[],
  { committed, left }: { committed: number; left: number },
): MessageComparison {
  const problems: string[] = []
  const last = new Map<string, Accepted>()
  let duplicates = 0
  for (const message of accepted) {
    const { alert, kind, life } = message
    const before = last.get(alert)
    last.set(alert, message)
    if (before === undefined ? kind !== 'firing' : (before.kind === 'firing') === (kind === 'firing')) {
      if (before?.kind !== kind) problems.push(`${alert}: ${kind} after ${before?.kind ?? 'nothing'}`)
      else duplicates += 1
      if (before?.life === life) problems.push(`${alert}: ${kind} came again from the process that had sent it`)
    }
  }
  const distinct = accepted.length - duplicates
  const lost = committed - distinct
  if (lost !== 0) problems.push(`${committed} were committed, ${distinct} came, ${left} are left`)
  return { distinct, lost, duplicates, problems }
}
