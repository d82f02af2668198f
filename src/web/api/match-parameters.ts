import * as z from 'zod'
import { MATCH_KEYS, type AlertMatch } from '../../alerts/match-keys.ts'

const value = z.string().min(1).max(210).optional()

/** A match of alerts in a request. */
export const alertMatch = z.strictObject({
  alert: value.describe('Name of the rule; this and the others as they are, or `=~` and a regular expression'),
  severity: value,
  target: value,
  type: value,
  mode: value,
  receiver_type: value,
})

/** The values that are given. */
export function givenIn(match: z.output<typeof alertMatch>): AlertMatch {
  return Object.fromEntries(MATCH_KEYS.flatMap((key) => (match[key] === undefined ? [] : [[key, match[key]]])))
}
