import type { Rule } from '../../../src/alerts/rule.ts'

/** Fires at the initial sync, and permanently. */
export const ANY_CALL: Rule = {
  name: 'AnyCall',
  signal: { name: 'calls_started', window: 3600 },
  severity: 'info',
  breach: 'above',
  threshold: 0,
  clear: 0,
  match: {},
  by: [],
  for: 0,
  keepFiringFor: 0,
  repeat: 0,
}
