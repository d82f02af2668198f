import { ALL_LABELS, FINAL_STATUSES, OPEN_STATUSES, type CallStatus, type FinalStatus, type Labels } from './call.ts'

// Stores contain these codes: a new status or label must not change the others (test/store/call-columns.test.ts).
const STATUSES: readonly CallStatus[] = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other']
const statusCodes = new Map(STATUSES.map((status, code) => [status, code]))
const labelCodes = new Map(ALL_LABELS.map((labels, code) => [labels, code]))

/** Beyond the codes of statuses: of a call that was lost, and of one that is not counted and in no history. */
export const LOST_CODE = 7
export const BASELINE_CODE = 8

/** A status as one byte. */
export function statusCode(status: CallStatus): number {
  return statusCodes.get(status)!
}

export function statusOf(code: number): CallStatus {
  return STATUSES[code]!
}

/** The same, for a code that was made from a final status. */
export function finalStatusOf(code: number): FinalStatus {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return STATUSES[code] as FinalStatus
}

/** A set of labels as one byte. */
export function labelCode(labels: Labels): number {
  return labelCodes.get(labels)!
}

export function labelsOfCode(code: number): Labels {
  return ALL_LABELS[code]!
}
