import { ALL_LABELS, FINAL_STATUSES, OPEN_STATUSES, type CallStatus, type FinalStatus, type Labels } from './call.ts'
import type { TrackedCall } from './tracked-call.ts'

// The store contains these codes. A new value must not change the existing ones (test/unit/store/call-columns.test.ts).
const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]
const STATUSES: readonly CallStatus[] = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other']
const statusCodes = new Map(STATUSES.map((status, code) => [status, code]))
const labelCodes = new Map(ALL_LABELS.map((labels, code) => [labels, code]))

/** Further codes besides those of statuses: for a lost call, and for a call that is neither counted nor in the history. */
export const LOST_CODE = 7
export const BASELINE_CODE = 8

export const phaseCode = (phase: TrackedCall['phase']): number => PHASES.indexOf(phase)
export const phaseOf = (code: number): TrackedCall['phase'] => PHASES[code]!

/** A status as a code of one byte. */
export function statusCode(status: CallStatus): number {
  return statusCodes.get(status)!
}

export function statusOf(code: number): CallStatus {
  return STATUSES[code]!
}

/** The final status of a code that was made from one. */
export function finalStatusOf(code: number): FinalStatus {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return STATUSES[code] as FinalStatus
}

/** A label set as a code of one byte. */
export function labelCode(labels: Labels): number {
  return labelCodes.get(labels)!
}

export function labelsOfCode(code: number): Labels {
  return ALL_LABELS[code]!
}
