import type { Message } from './message.ts'
import { digestLine } from './text/digest-text.ts'
import { pastSummary } from './text/past-text.ts'

/** A line for the log: its text, and the fields to filter by. */
export type LogLine = { fields: Record<string, string>; text: string }

/** A report as lines of the log, where no receiver is configured: one for each target of a digest. The log has all else anyway. */
export function linesOf(message: Message): LogLine[] {
  if (message.kind === 'past') return [{ fields: {}, text: pastSummary(message) }]
  if (message.kind !== 'digest') return []
  const { day, targets } = message
  return targets.map((each) => ({
    fields: { target: each.target, day },
    text: `digest of ${day}: ${digestLine(each)}`,
  }))
}
