import { z } from 'zod'
import { checkThreshold } from './check-threshold.ts'
import { section } from '../section.ts'
import { notOf, signalKeys } from './signal-keys.ts'

const names = Object.keys(signalKeys)

/** One entry of `alerts`. A further signal is a further entry of signalKeys and a member of alerts' Signal. */
export const ruleSchema = z.discriminatedUnion(
  'signal',
  [
    ruleSection('failure_ratio'),
    ruleSection('calls'),
    ruleSection('calls_started'),
    ruleSection('minutes'),
    ruleSection('in_progress'),
    ruleSection('answer_delay_p95'),
    ruleSection('duration_mean'),
    ruleSection('stuck_calls'),
    ruleSection('poll_age'),
    ruleSection('budget_minutes'),
  ],
  {
    error: (issue) =>
      issue.code === 'invalid_union' ? `one of ${names.map((name) => `\`${name}\``).join(', ')}` : undefined,
  },
)

/** A rule as the file's schema gives it: camelCase, seconds, every default filled in. */
export type FileRule = z.output<typeof ruleSchema>

function ruleSection<Name extends keyof typeof signalKeys>(name: Name) {
  return section(signalKeys[name], checkThreshold, (key) => notOf(name, key))
}
