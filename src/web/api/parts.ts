import * as z from 'zod'
import { RULE_LABELS } from '../../alerts/groups.ts'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { signals } from '../../alerts/signals.ts'
import { FINAL_STATUSES, OPEN_STATUSES, type FinalStatus } from '../../ledger/call.ts'
import { USAGE_FORMULAS } from '../../ledger/usage.ts'

/** The schemas that the document names. */
export const named = z.registry<{ id: string }>()
export const namedObject = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.object(shape).register(named, { id })
/** What is not JSON. */
export const namedText = (id: string, about: string) => z.string().describe(about).register(named, { id })

/* What several answers have. */

export const time = z.iso.datetime()
export const count = z.int().nonnegative()
export const seconds = z.number().nonnegative()
export const ratio = z.number().min(0).max(1)
export const minutes = z.object({ audio: z.number(), video: z.number() })
export const byOutcome = <Value>(valueOf: (status: FinalStatus) => Value) => ({
  ended: valueOf('ended'),
  unanswered: valueOf('unanswered'),
  rejected: valueOf('rejected'),
  canceled: valueOf('canceled'),
  other: valueOf('other'),
})
export const outcomes = byOutcome(() => count)
export const breach = z.enum(['above', 'below'])
export const severity = z.enum(SEVERITIES)
export const label = z.enum(RULE_LABELS)
export const labels = z.partialRecord(label, z.string())
export const statuses = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other'] as const
export const callsUrl = z.string().describe('Request for the calls behind the value, where these can be selected')
export const expiredBecause = z.enum([
  'too few calls',
  'rule removed',
  'rule changed',
  'target removed',
  'target reset',
])

const percentile = seconds.nullable()
export const percentiles = z.object({ p50: percentile, p95: percentile }).describe('Exact to 2%')
/** Of the calls that finished in a time. */
export const sums = {
  calls: z.object({ ...outcomes, lost: count }),
  minutes,
  participant_minutes: minutes,
  user_minutes: z.number().describe('The formula that the vendor publishes: the duration of each call × who joined'),
  failure_ratio: ratio.nullable().describe('Null below five calls'),
  duration_seconds: percentiles.extend({ mean: percentile }).describe('The percentiles are exact to 2%'),
}

/** A signal with its settings. */
export const measured = {
  signal: z.enum(signals.map(({ name }) => name)),
  window_seconds: seconds.optional(),
  reason: z.enum(['any', 'unanswered', 'rejected', 'canceled']).optional(),
  media: z.enum(['audio', 'video', 'both']).optional(),
  min_calls: count.optional(),
  limit: z.number().optional(),
  timezone: z.string().optional(),
  of: z.enum(USAGE_FORMULAS).optional(),
  longer_than_seconds: seconds.optional(),
}
