import { factNames } from './facts.ts'
import { faultNames } from './faults.ts'
import { oddityNames } from './oddities.ts'

/** The most old calls that come into the list in an hour. */
export const MAX_IMPORTS = 60

/** A switch: what it does in a line (help), its default, its values in words (refusals, help), and a check for them. */
type Switch<Value> = {
  about: string
  initial: Value
  expected: string
  accepts: (value: unknown) => boolean
}

/**
 * Every switch: how the service behaves where its reference is silent, what happens to its calls, and what goes wrong
 * with it. Any may change while the service runs. A comment says what a switch does to the expected series; without
 * one, nothing. A new switch is an entry here; of a list of values the first is the default.
 */
export const switchTable = {
  /** false: no further calls begin; those that run continue to their end. */
  arrivals: oneOf('no further calls begin', [true, false]),
  /**
   * By the calls' beginning; `shuffled` again for each request; `changing`: one of the three, and now and then, between
   * two requests, another one. With the others new calls do not come in at an end: `type` (video first), then newest
   * first; `startedAt` descending, calls without one last; `endedAt` descending, open calls first; `inserted`: by when
   * the row came into the service, the last one first, so that imports are on top; `updatedAt` descending and
   * `updated_last` ascending: by when the row was last changed, so that calls move while they run and when they are
   * corrected; `ties`: newest first by five minutes, in another random order for each request within those.
   */
  order: oneOf('the order of List Calls', [
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
  ]),
  /**
   * Up to 40 calls that were over two days ago or more come into the list together, the oldest first. They never count:
   * their own time is before any set-up and any horizon.
   */
  imports: numberUpTo('how many imports of old calls an hour come into the list', MAX_IMPORTS),
  /** `{ "data": call }` or the call itself. */
  getCall: oneOf("Get Call's body", ['wrapped', 'bare']),
  /** Used, ignored, capped at half of it in every third answer (`varying`), or capped at a number. */
  perPage: wholeNumberOr('how the parameter perPage is treated', ['honoured', 'ignored', 'varying']),
  perPageField: oneOf('whether List Calls says how long its pages are', ['given', 'absent']),
  /**
   * `pages`, `calls`: only the number of those; `page`: how many calls are on that page, as if they were all; `zero`:
   * always 0 of both.
   */
  total: oneOf('whether List Calls says how many calls there are', [
    'given',
    'absent',
    'pages',
    'calls',
    'page',
    'zero',
  ]),
  totalLag: numberUpTo('by how many seconds the total lags behind', 3600),
  /** Too small or too large, by another number in each answer. */
  totalJitter: numberUpTo('by how many calls the total may be wrong', 1e6),
  extraPages: numberUpTo('how many pages too many List Calls says there are', 1),
  /** List Calls never names more pages than those calls take, either. */
  totalCap: wholeNumberOr('the most calls that List Calls says there are', ['none']),
  /** Rows that this key may not see, or that are broken. */
  hiddenRows: numberUpTo('how many calls are in the total and on no page', 1e6),
  /** Calls behind it are found only by their id. */
  deepestPage: wholeNumberOr('the last page that is given', ['any']),
  /** Refused, never answered, without calls, or the deepest one again. */
  deepPages: oneOf('what pages after the deepest one are', ['refused', 'hang', 'empty', 'repeated']),
  pastLast: oneOf('what a page after the last one is', ['empty', 404, 400]),
  /** Of a list without a call. */
  emptyList: oneOf('how List Calls answers where there is no call', ['list', 'null', 204, 404]),
  /**
   * As while an index is rebuilt; the total counts those alone, Get Call knows all. Expected: as if they were listed
   * once all of them are: a poll can still count every one then.
   */
  indexed: fraction('the share of the calls that List Calls shows', 'a share', 1),
  /** With the Date that the page had. */
  cacheSeconds: numberUpTo('for how many seconds a page is answered again as it was', 3600),
  age: oneOf('whether a page that is answered again has an Age header', ['given', 'absent'], 'absent'),
  /** By chance, not in turn. */
  replicaLag: numberUpTo('by how many seconds every other page lags', 60),
  duplicates: fraction('the probability that a page repeats the end of the one before', 'a probability', 0),
  /** What happened counts all the same: expected of a daemon that polls at least that often. */
  listedSeconds: wholeNumberOr('for how many seconds a call is listed', ['forever']),
  /** The oldest make room. Expected: as with `listedSeconds`. */
  mostListed: wholeNumberOr('how many calls are listed at most', ['all']),
  /** `not_found`: those that are open then, or over for less than half of their time on the list, have vanished. */
  unlisted: oneOf('whether Get Call knows calls too old for the list', ['found', 'not_found']),
  /** `sometimes`: a third of the answers have none. */
  date: oneOf('whether answers have a Date header', ['given', 'absent', 'sometimes']),
  answerSeconds: numberUpTo('how many seconds an answer takes', 60),
  /** Get Call does not know a call that began since then. Open calls that the list shows are not lost for that. */
  getCallLag: numberUpTo('by how many seconds Get Call lags', 3600),
  /**
   * The id, and the place in the list, of a call that was over before the service started, as where a meeting room is
   * used again. Expected: it is open again, and counts whole where it ended before the set-up.
   */
  reusedIds: fraction('the probability that a call reuses an earlier id', 'a probability', 0),
  /** Of the clock that the calls' times are from; negative: behind. */
  dateOffset: seconds('how far the Date header is ahead'),
  wrongDates: numberUpTo('how many of the first answers have a wrong Date', 1e6),
  /** Beside `dateOffset`. */
  wrongDateOffset: seconds('how far a wrong Date is ahead'),
  oddDates: fraction('the probability that an answer has a wrong Date', 'a probability', 0),
  /**
   * As after a bad deploy, or where one of several servers is in another time zone. Expected: as if they were right, but for calls
   * that were over before the set-up by less than the shift.
   */
  shiftedAnswers: fraction('the probability that the times of the calls in an answer are shifted', 'a probability', 0),
  timeShift: seconds('how far shifted times are ahead'),
  rateLimitHeaders: oneOf("the names of the rate limit's headers", ['X-RateLimit', 'X-Rate-Limit', 'absent']),
  /** Of every call that begins. The tables of facts say what is expected. */
  facts: probabilities('anomalies of a call', factNames),
  /** Of each call in each answer. */
  odd: probabilities('malformed fields of a call in an answer', oddityNames),
  /** Of every request to the service. */
  fault: probabilities('faults of a request', faultNames, 1),
  outage: oneOf('every connection to the service is reset', [true, false], false),
}

/** The values of all switches. */
export type Switches = { [Name in keyof typeof switchTable]: (typeof switchTable)[Name]['initial'] }

export const switchNames = Object.keys(switchTable).filter(isSwitch)

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every switch has its own value
export const defaultSwitches = Object.fromEntries(
  switchNames.map((name) => [name, switchTable[name].initial]),
) as Switches

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
    const { expected, accepts, initial } = switchTable[name]
    const form = isObject(initial) ? 'an object with ' : ''
    if (!accepts(value)) {
      return { problem: `switch "${name}": expected ${form}${expected}, got ${JSON.stringify(value)}` }
    }
  }
  return { switches: { ...current, ...patch } }
}

function oneOf<const Value>(about: string, values: readonly Value[], initial = values[0]!): Switch<Value> {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ')
  return { about, initial, expected, accepts: (value) => values.some((each) => each === value) }
}

function wholeNumberOr<const Word extends string>(
  about: string,
  words: readonly [Word, ...Word[]],
): Switch<Word | number> {
  return {
    about,
    initial: words[0],
    expected: `${words.map((word) => JSON.stringify(word)).join(', ')} or a whole number of 1 or more`,
    accepts: (value) => words.some((word) => word === value) || (Number.isInteger(value) && Number(value) >= 1),
  }
}

function numberUpTo(about: string, most: number): Switch<number> {
  return { about, initial: 0, expected: `a number from 0 to ${most}`, accepts: (value) => isWithin(value, most) }
}

function fraction(about: string, kind: string, initial: number): Switch<number> {
  return { about, initial, expected: `${kind} from 0 to 1`, accepts: (value) => isWithin(value, 1) }
}

function seconds(about: string): Switch<number> {
  return { about, initial: 0, expected: 'a number of seconds', accepts: (value) => Number.isFinite(value) }
}

/** Each 0 to 1, absent for 0; with `mostTogether` their sum is limited as well. */
function probabilities<Name extends string>(
  about: string,
  names: readonly Name[],
  mostTogether?: number,
): Switch<Partial<Record<Name, number>>> {
  const limit = mostTogether === undefined ? ', each at most 1,' : ` that add up to at most ${mostTogether},`
  return {
    about,
    initial: {},
    expected: `probabilities${limit} of ${names.join(', ')}`,
    accepts: (value) => {
      if (!isObject(value)) return false
      if (!Object.entries(value).every(([name, each]) => names.some((one) => one === name) && isWithin(each, 1)))
        return false
      const sum = Object.values(value).reduce<number>((total, each) => total + Number(each), 0)
      return sum <= (mostTogether ?? Infinity) + 1e-9
    },
  }
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most
}

function isSwitch(name: string): name is keyof Switches {
  return Object.hasOwn(switchTable, name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
