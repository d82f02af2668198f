import { z } from 'zod'
import { duration } from './duration.ts'
import { link, oneOf, ratio, text, wholeNumber } from './scalars.ts'
import { section } from './section.ts'

const name = text('a name').describe('Name of the rule, shown in messages and in the label `alert`')

const everyRule = {
  for: duration({ min: 0 }).prefault(0).describe('How long the breach must last; 0: alert at once'),
  severity: oneOf(['critical', 'warning', 'info']).prefault('warning').describe('How urgent it is'),
  runbook_url: link().optional().describe('Linked in the message'),
  description: text('a text')
    .optional()
    .describe('Shown in the message; may use {value} {threshold} {calls} {window} {labels}'),
}

const failureRatio = section(
  {
    name,
    signal: z.literal('failure_ratio').describe('Share of the calls finished in the window that failed'),
    reason: oneOf(['any', 'unanswered', 'rejected', 'canceled']).prefault('any').describe('Which failures count'),
    window: duration().prefault('15m').describe('How far back finished calls are looked at'),
    above: ratio().describe('A ratio above this is a breach'),
    clear: ratio().optional().describe('Resolved only at or below this; default: the same as above'),
    min_calls: wholeNumber(1, 1_000_000_000)
      .prefault(20)
      .describe('With fewer finished calls in the window there is no verdict'),
    ...everyRule,
  },
  clearNotPastAbove,
)

const pollAge = section(
  {
    name,
    signal: z.literal('poll_age').describe('Time since the last good poll of the target'),
    above: age().describe('A longer time is a breach; seconds or a duration'),
    clear: age().optional().describe('Resolved only at or below this; default: the same as above'),
    ...everyRule,
  },
  clearNotPastAbove,
)

/** One entry of `alerts`. A further signal is a further section here and a member of alerts' Rule. */
export const ruleSchema = z.discriminatedUnion('signal', [failureRatio, pollAge], {
  error: (issue) => (issue.code === 'invalid_union' ? 'one of `failure_ratio`, `poll_age`' : undefined),
})

/** Seconds as a number, or a duration. */
function age() {
  const error = 'seconds or a duration such as `5m`, 0 or more'
  // The duration comes first, so that the way back makes a readable one.
  return z.codec(z.union([duration({ min: 0 }), z.number({ error }).min(0, { error })], { error }), z.number(), {
    decode: (seconds) => seconds,
    encode: (seconds) => seconds,
  })
}

function clearNotPastAbove(
  rule: { readonly above?: unknown; readonly clear?: unknown },
  report: (path: string[], message: string) => void,
) {
  if (typeof rule.clear !== 'number' || typeof rule.above !== 'number' || rule.clear <= rule.above) return
  report(['clear'], `found ${rule.clear}, which is past \`above\`; expected at most ${rule.above}`)
}
