import * as z from 'zod'
import { MAX_PATTERN_LENGTH, type Silence } from '../alerts/match.ts'
import { MATCH_KEYS } from '../alerts/match-keys.ts'
import { isoTime } from '../clock/times.ts'
import { count, namedObject, textsOf, time } from './shapes.ts'

export const silence = namedObject('Silence', {
  id: count,
  match: textsOf(MATCH_KEYS),
  since: time,
  until: time,
  reason: z.string(),
  author: z.string().optional().describe('Who added it; absent where that is not known'),
  edits: count.describe('How often it was edited'),
})
export type SilenceView = z.output<typeof silence>

export function silenceView({ id, match, since, until, reason, author, edits = 0 }: Silence): SilenceView {
  return { id, match, since: isoTime(since), until: isoTime(until), reason, author, edits }
}

const value = z
  .string()
  .min(1)
  .max(MAX_PATTERN_LENGTH + 10)

/** A match of alerts in a request. */
export const alertMatch = z.strictObject({
  ...textsOf(MATCH_KEYS, value).shape,
  alert: value
    .exactOptional()
    .describe('Name of the rule; this and the others as they are, or `=~` and a regular expression'),
})
