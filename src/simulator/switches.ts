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
   * and now and then, between two requests, another one. With the others new calls do not come in at an end: `type`
   * (video first), then newest first; `startedAt` descending, calls without one last; `endedAt` descending, open calls
   * first; `inserted`: by when the row came into the service, the last one first, so that imports are on top;
   * `updatedAt` descending and `updated_last` ascending: by when the row was last changed, so that calls move while they
   * run and when they are corrected; `ties`: newest first by five minutes, and anew for each request within those.
   */
  order:
    | 'newest'
    | 'oldest'
    | 'shuffled'
    | 'changing'
    | 'type'
    | 'startedAt'
    | 'endedAt'
    | 'inserted'
    | 'updatedAt'
    | 'updated_last'
    | 'ties'
  /**
   * How often an hour, 60 times at most, up to 40 calls that were over two days ago or more come into the list together,
   * the oldest first. They never count: their own time is before any set-up and any horizon.
   */
  imports: number
  /** Get Call's body: `{ "data": call }` or the call itself. */
  getCall: 'wrapped' | 'bare'
  /** The page size asked for is used, is not looked at, is capped at half of it in every third answer (`varying`), or at a number of 1 or more. */
  perPage: 'honoured' | 'ignored' | 'varying' | number
  /** Whether List Calls says how long its pages are. */
  perPageField: 'given' | 'absent'
  /**
   * Whether List Calls says how many calls and pages there are; `pages`, `calls`: only one of them; `page`: how many calls
   * are on that page, as if they were all; `zero`: always 0 of both.
   */
  total: 'given' | 'absent' | 'pages' | 'calls' | 'page' | 'zero'
  /** By so many seconds the total lags behind the pages, 3600 at most. */
  totalLag: number
  /** The total is up to so many calls too small or too large, anew in each answer. */
  totalJitter: number
  /** So many pages more than there are does List Calls say, 1 at most. */
  extraPages: number
  /** List Calls never says that there are more calls than that, 1 or more, nor more pages than those take. */
  totalCap: 'none' | number
  /** So many calls that no page shows are in the total: rows that this key may not see, or that are broken. */
  hiddenRows: number
  /** Pages after this one, 1 or more, are not given. What lies behind is known only to who asks for it by its id. */
  deepestPage: 'any' | number
  /** What pages after the deepest one are: refused, never answered, without calls, or the deepest one again. */
  deepPages: 'refused' | 'hang' | 'empty' | 'repeated'
  /** What a page after the last one is: without calls, a 404 or a 400. */
  pastLast: 'empty' | 404 | 400
  /**
   * The share of the calls, 0 to 1, that List Calls shows and counts, as while an index is rebuilt; Get Call knows all. The
   * truth is as if they were listed once all of them are: who looks then can still count every one.
   */
  indexed: number
  /** Seconds for which a page of List Calls is answered again as it was, with the Date that it had. */
  cacheSeconds: number
  /** Whether a page that is answered again has an Age header. */
  age: 'given' | 'absent'
  /** Every other page of List Calls, by chance, shows the calls as they were so many seconds ago, 60 at most. */
  replicaLag: number
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
  /** Whether answers have a Date header; `sometimes`: a third of them have none. */
  date: 'given' | 'absent' | 'sometimes'
  /** Seconds that an answer takes, 60 at most. */
  answerSeconds: number
  /**
   * So many seconds ago, 3600 at most, is what Get Call shows of a call; one that began since then it does not know. Open calls
   * that the list shows are not lost for that.
   */
  getCallLag: number
  /**
   * The probability that a call has the id, and the place in the list, of one that was over before the service started, as
   * where a meeting room is used again. Truth: it is open again, and counts whole where it was over before the set-up.
   */
  reusedIds: number
  /** Seconds by which the Date header is ahead of the clock that the calls' times are from; negative: behind. */
  dateOffset: number
  /** So many of the first answers have a Date that is `wrongDateOffset` seconds ahead besides. */
  wrongDates: number
  wrongDateOffset: number
  /** The probability that the Date of any answer is so far ahead. */
  oddDates: number
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
  imports: 0,
  getCall: 'wrapped',
  perPage: 'honoured',
  perPageField: 'given',
  total: 'given',
  totalLag: 0,
  totalJitter: 0,
  extraPages: 0,
  totalCap: 'none',
  hiddenRows: 0,
  deepestPage: 'any',
  deepPages: 'refused',
  pastLast: 'empty',
  indexed: 1,
  cacheSeconds: 0,
  age: 'absent',
  replicaLag: 0,
  duplicates: 0,
  listedSeconds: 'forever',
  mostListed: 'all',
  unlisted: 'found',
  date: 'given',
  answerSeconds: 0,
  getCallLag: 0,
  reusedIds: 0,
  dateOffset: 0,
  wrongDates: 0,
  wrongDateOffset: 0,
  oddDates: 0,
  rateLimitHeaders: 'X-RateLimit',
  facts: {},
  odd: {},
  fault: {},
  outage: false,
}

/** The most old calls that come into the list in an hour. */
export const MOST_IMPORTS = 60

/** The most seconds by which a page may lag. */
export const MOST_LAG = 60

/** A switch's values: how they are told from others, and how they are described to who gave another. */
type Values = { expected: string; accepts: (value: unknown) => boolean }

const yesOrNo: Values = oneOf(true, false)

/**
 * Every switch: what it is about, in a line, where `Switches` says it whole, and which values it has. Of one that is on
 * or off the line says what comes of changing it.
 */
export const switchTable: Readonly<Record<keyof Switches, Values & { about: string }>> = {
  arrivals: { about: 'no further calls begin', ...yesOrNo },
  order: {
    about: 'the order of List Calls',
    ...oneOf(
      'newest',
      'oldest',
      'shuffled',
      'changing',
      'type',
      'startedAt',
      'endedAt',
      'inserted',
      'updatedAt',
      'updated_last',
      'ties',
    ),
  },
  imports: { about: 'how often an hour old calls come into the list', ...numberUpTo(MOST_IMPORTS) },
  getCall: { about: "Get Call's body", ...oneOf('wrapped', 'bare') },
  perPage: { about: 'what becomes of the page size asked for', ...wholeNumberOr('honoured', 'ignored', 'varying') },
  perPageField: { about: 'whether List Calls says how long its pages are', ...oneOf('given', 'absent') },
  total: {
    about: 'whether List Calls says how many calls there are',
    ...oneOf('given', 'absent', 'pages', 'calls', 'page', 'zero'),
  },
  totalLag: { about: 'by how many seconds the total lags behind', ...numberUpTo(3600) },
  totalJitter: { about: 'by how many calls the total may be wrong', ...numberUpTo(1e6) },
  extraPages: { about: 'how many pages too many List Calls says there are', ...numberUpTo(1) },
  totalCap: { about: 'the most calls that List Calls says there are', ...wholeNumberOr('none') },
  hiddenRows: { about: 'how many calls are in the total and on no page', ...numberUpTo(1e6) },
  deepestPage: { about: 'the last page that is given', ...wholeNumberOr('any') },
  deepPages: { about: 'what pages after the deepest one are', ...oneOf('refused', 'hang', 'empty', 'repeated') },
  pastLast: { about: 'what a page after the last one is', ...oneOf('empty', 404, 400) },
  indexed: {
    about: 'the share of the calls that List Calls shows',
    expected: 'a share from 0 to 1',
    accepts: isProbability,
  },
  cacheSeconds: { about: 'for how many seconds a page is answered again as it was', ...numberUpTo(3600) },
  age: { about: 'whether a page that is answered again has an Age header', ...oneOf('given', 'absent') },
  replicaLag: { about: 'by how many seconds every other page lags', ...numberUpTo(MOST_LAG) },
  duplicates: {
    about: 'how likely a page repeats the end of the one before',
    expected: 'a probability from 0 to 1',
    accepts: isProbability,
  },
  listedSeconds: { about: 'for how many seconds a call is listed', ...wholeNumberOr('forever') },
  mostListed: { about: 'how many calls are listed at most', ...wholeNumberOr('all') },
  unlisted: { about: 'whether Get Call knows calls too old for the list', ...oneOf('found', 'not_found') },
  date: { about: 'whether answers have a Date header', ...oneOf('given', 'absent', 'sometimes') },
  answerSeconds: { about: 'how many seconds an answer takes', ...numberUpTo(60) },
  getCallLag: { about: 'by how many seconds Get Call lags', ...numberUpTo(3600) },
  reusedIds: {
    about: 'how likely a call has the id of an earlier one',
    expected: 'a probability from 0 to 1',
    accepts: isProbability,
  },
  dateOffset: {
    about: 'how far the Date header is ahead',
    expected: 'a number of seconds',
    accepts: (value) => Number.isFinite(value),
  },
  wrongDates: { about: 'how many of the first answers have a wrong Date', ...numberUpTo(1e6) },
  wrongDateOffset: {
    about: 'how far a wrong Date is ahead',
    expected: 'a number of seconds',
    accepts: (value) => Number.isFinite(value),
  },
  oddDates: {
    about: 'how likely an answer has a wrong Date',
    expected: 'a probability from 0 to 1',
    accepts: isProbability,
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

function numberUpTo(most: number): Values {
  return {
    expected: `a number from 0 to ${most}`,
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= most,
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
