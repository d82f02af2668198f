import type { Reason } from '../ledger/failure-ratio.ts'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** One alert rule. Durations and windows are seconds; `clear` is never above `above`. */
export type Rule = FailureRatioRule | PollAgeRule

type AnyRule = {
  name: string
  severity: Severity
  /** It is a breach when the value is above this. */
  above: number
  /** A firing alert resolves when the value is no longer above this. */
  clear: number
  /** The breach must last this long. */
  for: number
  runbookUrl?: string
  description?: string
}

/** The share of the calls finished in a window that failed, from 0 to 1. */
export type FailureRatioRule = AnyRule & {
  signal: 'failure_ratio'
  reason: Reason
  window: number
  /** With fewer finished calls than this in the window there is no verdict. */
  minCalls: number
}

/** Seconds since the target's last good look. */
export type PollAgeRule = AnyRule & { signal: 'poll_age' }
