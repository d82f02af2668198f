import { faultNames, isFaultName } from './faults/faults.ts'
import type { FaultProbabilities } from './faults/faults.ts'

/** How the service behaves where its reference is silent, and what goes wrong with it. May change while it runs. */
export type Switches = {
  /** false: no further calls begin; those that run go on to their end. */
  arrivals: boolean
  /** The order of List Calls by initiatedAt; `shuffled` anew for each request. */
  order: 'newest' | 'oldest' | 'shuffled'
  /** Get Call's body: `{ "data": call }` or the call itself. */
  getCall: 'wrapped' | 'bare'
  /** The page size asked for is used, is not looked at, or is capped at a number of 1 or more. */
  perPage: 'honoured' | 'ignored' | number
  /** Whether List Calls says how many calls and pages there are. */
  total: 'given' | 'absent'
  /** The probability of each fault, for every request to the service. */
  fault: FaultProbabilities
  /** true: every connection to the service is reset. */
  outage: boolean
}

export const defaultSwitches: Switches = {
  arrivals: true,
  order: 'newest',
  getCall: 'wrapped',
  perPage: 'honoured',
  total: 'given',
  fault: {},
  outage: false,
}

/** A switch's values: how they are told from others, and how they are described to who gave another. */
type Values = { expected: string; accepts: (value: unknown) => boolean }

const yesOrNo: Values = oneOf(true, false)

const values: Record<keyof Switches, Values> = {
  arrivals: yesOrNo,
  order: oneOf('newest', 'oldest', 'shuffled'),
  getCall: oneOf('wrapped', 'bare'),
  perPage: {
    expected: '"honoured", "ignored" or a whole number of 1 or more',
    accepts: (value) => value === 'honoured' || value === 'ignored' || (Number.isInteger(value) && Number(value) >= 1),
  },
  total: oneOf('given', 'absent'),
  fault: {
    expected: `an object with probabilities that add up to at most 1, of ${faultNames.join(', ')}`,
    accepts: areProbabilities,
  },
  outage: yesOrNo,
}

/** The switches after a patch: known names with new values, `fault` replaced as a whole; or what is wrong with it. */
export function patchSwitches(current: Switches, patch: unknown): { switches: Switches } | { problem: string } {
  if (!isObject(patch)) return { problem: 'expected a JSON object with switches' }
  for (const [name, value] of Object.entries(patch)) {
    if (!isSwitch(name)) {
      return { problem: `unknown switch "${name}"; there are ${Object.keys(values).join(', ')}` }
    }
    const { expected, accepts } = values[name]
    if (!accepts(value)) return { problem: `switch "${name}": expected ${expected}, got ${JSON.stringify(value)}` }
  }
  return { switches: { ...current, ...patch } }
}

function oneOf(...allowed: unknown[]): Values {
  return {
    expected: allowed.map((value) => JSON.stringify(value)).join(' or '),
    accepts: (value) => allowed.includes(value),
  }
}

function areProbabilities(value: unknown): boolean {
  if (!isObject(value)) return false
  const known = Object.keys(value).every(isFaultName)
  const given = Object.values(value)
  const valid = given.every((probability) => typeof probability === 'number' && probability >= 0)
  return known && valid && given.reduce<number>((sum, probability) => sum + Number(probability), 0) <= 1 + 1e-9
}

function isSwitch(name: string): name is keyof Switches {
  return Object.hasOwn(values, name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
