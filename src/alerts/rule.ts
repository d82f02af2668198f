import type { Reason } from '../ledger/failure-ratio.ts'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The labels of calls that rules can match and group by, named as on the metrics. */
export const RULE_LABELS = ['type', 'mode', 'receiver_type'] as const
export type RuleLabel = (typeof RULE_LABELS)[number]
/** Values of labels, such as `{ mode: 'call' }`. */
export type RuleLabels = Readonly<Partial<Record<RuleLabel, string>>>

/** One alert rule. Durations and windows are seconds. */
export type Rule = {
  name: string
  signal: Signal
  severity: Severity
  /** On which side of the threshold the trouble lies. */
  breach: 'above' | 'below'
  threshold: number
  /** A firing alert is over once its value is back at this or past it; never on the wrong side of the threshold. */
  clear: number
  /** Only calls with these labels. */
  match: RuleLabels
  /** One alert for each combination of values of these labels. */
  by: readonly RuleLabel[]
  /** The breach must last this long. */
  for: number
  /** For so long after the value was last seen past `clear` the alert keeps firing. */
  keepFiringFor: number
  /** A firing alert is told again after this long; 0: never. */
  repeat: number
  /** A breach counts only if the same window, `offset` earlier, had as many calls. */
  onlyIf?: { offset: number; atLeast: number }
  runbookUrl?: string
  description?: string
}

/** What a rule looks at. */
export type Signal =
  | FailureRatioSignal
  /** Calls that finished in the window. */
  | { name: 'calls'; window: number }
  /** Calls that began in the window. */
  | { name: 'calls_started'; window: number }
  /** Call-level minutes of the calls that finished in the window. */
  | { name: 'minutes'; window: number; media: 'audio' | 'video' | 'both' }
  /** Open calls now. */
  | { name: 'in_progress' }
  /** The time that 95 in 100 answered calls were answered within (seconds), of those that finished in the window. */
  | { name: 'answer_delay_p95'; window: number; minCalls: number }
  /** The mean duration of the ended calls of the window (seconds). */
  | { name: 'duration_mean'; window: number; minCalls: number }
  /** Open calls that began longer ago than this (seconds). */
  | { name: 'stuck_calls'; longerThan: number }
  /** Seconds since the target's last good look. */
  | { name: 'poll_age' }
  /** Participant minutes of this calendar month, as a share of the limit. */
  | { name: 'budget_minutes'; limit: number; timezone: string }

/** The share of the calls finished in the window that failed, from 0 to 1. */
export type FailureRatioSignal = {
  name: 'failure_ratio'
  reason: Reason
  window: number
  /** With fewer finished calls than this in the window there is no verdict. */
  minCalls: number
  /** The ratio breaches only if it is past the threshold with this confidence, between 0.5 and 1. */
  confidence?: number
}

export type SignalName = Signal['name']

/** How far back a signal looks (seconds); undefined where it looks at what is now. */
export function windowOf(signal: Signal): number | undefined {
  return 'window' in signal ? signal.window : undefined
}
