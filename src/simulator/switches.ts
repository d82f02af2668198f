import { factNames, isFactName } from './facts/facts.ts'
import type { FactProbabilities } from './facts/facts.ts'
import { faultNames, isFaultName } from './faults/faults.ts'
import type { FaultProbabilities } from './faults/faults.ts'
import { isOddityName, oddityNames } from './odd/oddities.ts'
import type { OddityProbabilities } from './odd/oddities.ts'

/**
 * How the service behaves where its reference is silent, what becomes of its calls, and what goes wrong with it. May
 * change while it runs. What each does to the truth stands with it; where nothing is said, nothing.
 */
export type Switches = {
  /** false: no further calls begin; those that run go on to their end. */
  arrivals: boolean
  /**
   * The order of List Calls by the calls' beginning; `shuffled` anew for each request; `changing`: one of the three,
   * and now and then, between two requests, another one.
   */
  order: 'newest' | 'oldest' | 'shuffled' | 'changing'
  /** Get Call's body: `{ "data": call }` or the call itself. */
  getCall: 'wrapped' | 'bare'
  /** The page size asked for is used, is not looked at, or is capped at a number of 1 or more. */
  perPage: 'honoured' | 'ignored' | number
  /** Whether List Calls says how long its pages are. */
  perPageField: 'given' | 'absent'
  /** Whether List Calls says how many calls and pages there are. */
  total: 'given' | 'absent'
  /** Pages after this one, 1 or more, are refused. What lies behind is known only to who asks for it by its id. */
  deepestPage: 'any' | number
  /** The probability that a page after the first repeats the end of the one before. */
  duplicates: number
  /**
   * Seconds after its beginning for which a call is listed. What happened counts all the same: the truth holds for who
   * looks at least that often.
   */
  listedSeconds: 'forever' | number
  /** How many calls are listed at most, 1 or more; the oldest make room. The truth as with `listedSeconds`. */
  mostListed: 'all' | number
  /**
   * Whether Get Call knows calls that are too old for the list. `not_found`: those that are open then, or have been
   * over for less than half of their time on the list, have vanished (`setAside`).
   */
  unlisted: 'found' | 'not_found'
  /** Whether answers have a Date header. */
  date: 'given' | 'absent'
  /** Seconds by which the Date header is ahead of the clock that the calls' times are from; negative: behind. */
  dateOffset: number
  /** The names of the rate limit's headers. */
  rateLimitHeaders: 'X-RateLimit' | 'X-Rate-Limit' | 'absent'
  /** The probability of each fact out of the ordinary, for every call that begins: `facts/` says what the truth is. */
  facts: FactProbabilities
  /** The probability of each odd way to show a call, for each call in each answer. */
  odd: OddityProbabilities
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
  perPageField: 'given',
  total: 'given',
  deepestPage: 'any',
  duplicates: 0,
  listedSeconds: 'forever',
  mostListed: 'all',
  unlisted: 'found',
  date: 'given',
  dateOffset: 0,
  rateLimitHeaders: 'X-RateLimit',
  facts: {},
  odd: {},
  fault: {},
  outage: false,
}

/** A switch's values: how they are told from others, and how they are described to who gave another. */
type Values = { expected: string; accepts: (value: unknown) => boolean }

const yesOrNo: Values = oneOf(true, false)

/**
 * Every switch: what it is about, in a line, where `Switches` says it whole, and which values it has. Of one that is on
 * or off the line says what comes of changing it.
 */
export const switchTable: Readonly<Record<keyof Switches, Values & { about: string }>> = {
  arrivals: { about: 'no further calls begin', ...yesOrNo },
  order: { about: 'the order of List Calls', ...oneOf('newest', 'oldest', 'shuffled', 'changing') },
  getCall: { about: "Get Call's body", ...oneOf('wrapped', 'bare') },
  perPage: { about: 'what becomes of the page size asked for', ...wholeNumberOr('honoured', 'ignored') },
  perPageField: { about: 'whether List Calls says how long its pages are', ...oneOf('given', 'absent') },
  total: { about: 'whether List Calls says how many calls there are', ...oneOf('given', 'absent') },
  deepestPage: { about: 'the last page that is not refused', ...wholeNumberOr('any') },
  duplicates: {
    about: 'how likely a page repeats the end of the one before',
    expected: 'a probability from 0 to 1',
    accepts: isProbability,
  },
  listedSeconds: { about: 'for how many seconds a call is listed', ...wholeNumberOr('forever') },
  mostListed: { about: 'how many calls are listed at most', ...wholeNumberOr('all') },
  unlisted: { about: 'whether Get Call knows calls too old for the list', ...oneOf('found', 'not_found') },
  date: { about: 'whether answers have a Date header', ...oneOf('given', 'absent') },
  dateOffset: {
    about: 'how far the Date header is ahead',
    expected: 'a number of seconds',
    accepts: (value) => Number.isFinite(value),
  },
  rateLimitHeaders: {
    about: "the names of the rate limit's headers",
    ...oneOf('X-RateLimit', 'X-Rate-Limit', 'absent'),
  },
  facts: {
    about: 'what is out of the ordinary about a call',
    expected: `probabilities, each at most 1, of ${factNames.join(', ')}`,
    accepts: (value) => areProbabilities(value, isFactName),
  },
  odd: {
    about: 'how a call is shown oddly in an answer',
    expected: `probabilities, each at most 1, of ${oddityNames.join(', ')}`,
    accepts: (value) => areProbabilities(value, isOddityName),
  },
  fault: {
    about: 'what goes wrong with a request',
    expected: `probabilities that add up to at most 1, of ${faultNames.join(', ')}`,
    accepts: (value) => areProbabilities(value, isFaultName) && sumOf(value) <= 1 + 1e-9,
  },
  outage: { about: 'every connection to the service is reset', ...yesOrNo },
}

export const switchNames = Object.keys(switchTable).filter(isSwitch)

/**
 * The switches after a patch: known names with new values, `facts`, `odd` and `fault` each replaced as a whole; or what
 * is wrong with it.
 */
export function patchSwitches(current: Switches, patch: unknown): { switches: Switches } | { problem: string } {
  if (!isObject(patch)) return { problem: 'expected a JSON object with switches' }
  for (const [name, value] of Object.entries(patch)) {
    if (!isSwitch(name)) {
      return { problem: `unknown switch "${name}"; there are ${switchNames.join(', ')}` }
    }
    const { expected, accepts } = switchTable[name]
    const form = isObject(defaultSwitches[name]) ? 'an object with ' : ''
    if (!accepts(value)) {
      return { problem: `switch "${name}": expected ${form}${expected}, got ${JSON.stringify(value)}` }
    }
  }
  return { switches: { ...current, ...patch } }
}

function oneOf(...allowed: unknown[]): Values {
  return {
    expected: allowed.map((value) => JSON.stringify(value)).join(' or '),
    accepts: (value) => allowed.includes(value),
  }
}

function wholeNumberOr(...allowed: string[]): Values {
  return {
    expected: `${allowed.map((value) => JSON.stringify(value)).join(', ')} or a whole number of 1 or more`,
    accepts: (value) => allowed.some((each) => each === value) || (Number.isInteger(value) && Number(value) >= 1),
  }
}

function areProbabilities(value: unknown, isName: (name: string) => boolean): boolean {
  return isObject(value) && Object.keys(value).every(isName) && Object.values(value).every(isProbability)
}

function isProbability(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function sumOf(probabilities: unknown): number {
  const numbers = isObject(probabilities) ? Object.values(probabilities).map(Number) : []
  return numbers.reduce((sum, probability) => sum + probability, 0)
}

function isSwitch(name: string): name is keyof Switches {
  return Object.hasOwn(switchTable, name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
