import type { z } from 'zod'
import type { ruleSchema } from './rule-schema.ts'

/** The rules that hold where the file has no `alerts`, in the file's own form. */
export const defaultRules: z.input<typeof ruleSchema>[] = [
  {
    name: 'HighFailureRate',
    signal: 'failure_ratio',
    window: '15m',
    above: 0.3,
    clear: 0.2,
    min_calls: 20,
    for: '2m',
    severity: 'warning',
    description: 'Many of the calls that finished in the last {window} failed.',
  },
  {
    name: 'VeryHighFailureRate',
    signal: 'failure_ratio',
    window: '15m',
    above: 0.5,
    clear: 0.4,
    min_calls: 20,
    for: '2m',
    severity: 'critical',
    description: 'Most of the calls that finished in the last {window} failed.',
  },
  {
    name: 'NoGoodPoll',
    signal: 'poll_age',
    above: '5m',
    for: 0,
    severity: 'critical',
    description:
      'The calls service could not be read for {value}; until it can be, no other alert of this target can speak.',
  },
]
