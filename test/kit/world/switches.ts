import { chance, pick, type Random } from '../../../src/simulator/random.ts'
import {
  defaultsOf,
  numberUpTo,
  oneOf,
  probabilities,
  switchTable as plain,
  wholeNumberOr,
  type Switch,
  type Switches as PlainSwitches,
  type ValuesOf,
} from '../../../src/simulator/switches.ts'
import { oddityNames } from './answers/oddities.ts'
import { factNames } from './calls/facts.ts'
import { ordinaryFacts } from './calls/ordinary-facts.ts'

/** The most old calls that come into the list in an hour. */
export const MAX_IMPORTS = 60
/** At intensity 1 so likely is each ordinary fact for a call, on average. */
const FACT = 0.04
/** Those that set a call aside come half as often, so that most calls can be compared. */
const SETTING_ASIDE = ['labels_changed', 'without_ended_at', 'final_changed', 'vanished', 'vanished_for_a_while']
/** At intensity 1 so likely is each odd way to show a call, on average. */
const ODDITY = 0.05
/** An item that cannot be used hides a call from a sweep: a twentieth of that is enough. */
const UNUSABLE = 0.05

/**
 * Every switch: those of the simulator, some with further values, and how else the service may behave where its reference
 * is silent. A comment says what a switch does to the expected series; without one, nothing. A new switch is an entry here.
 */
export const switchTable = {
  ...plain,
  /** How usage metrics add minutes up: over participants, or the duration of each call × who joined; and what they round up before. */
  usage: oneOf('what usage metrics add up', ['participants', 'duration']),
  usageRounded: oneOf('what they round up to minutes', ['nothing', 'participant', 'call', 'total']),
  usageAlone: oneOf('calls that one participant joined', ['included', 'omitted']),
  usageTimes: oneOf('the unit of their times', ['milliseconds', 'seconds']),
  /**
   * `changing`: one of the three, and now and then, between two requests, another one. With the others new calls do not
   * come in at an end: `type` (video first), then newest first; `startedAt` descending, calls without one last; `endedAt`
   * descending, open calls first; `inserted`: by when the row came into the service, the last one first, so that imports
   * are on top; `updatedAt` descending and `updated_last` ascending: by when the row was last changed, so that calls move
   * while they run and when they are corrected; `ties`: newest first by five minutes, in another random order for each
   * request within those.
   */
  order: {
    ...withValues(plain.order, [
      'changing',
      'type',
      'startedAt',
      'endedAt',
      'inserted',
      'updatedAt',
      'updated_last',
      'ties',
    ]),
    draw: (stream: Random, intensity: number) =>
      chance(stream, (2 * intensity) / (7 + 2 * intensity)) ? 'changing' : plain.order.draw(stream),
  },
  /**
   * Up to 40 calls that were over two days ago or more come into the list together, the oldest first. They never count:
   * their own time is before any set-up and any horizon.
   */
  imports: numberUpTo('how many imports of old calls an hour come into the list', MAX_IMPORTS),
  /** Capped at half of it in every third answer (`varying`). */
  perPage: withValues(plain.perPage, ['varying']),
  /**
   * `pages`, `calls`: only the number of those; `page`: how many calls are on that page, as if they were all; `zero`:
   * always 0 of both.
   */
  total: withValues(plain.total, ['pages', 'calls', 'page', 'zero']),
  /** As where a count is kept for a while. */
  totalCacheSeconds: numberUpTo('for how many seconds the total stays as it was', 3600),
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
  /** Refused, never answered, without calls, the deepest one again, or 503. */
  deepPages: oneOf('what pages after the deepest one are', ['refused', 'hang', 'empty', 'repeated', 'unavailable']),
  /** As where a backend or a cache answers for another page. */
  emptyPages: fraction('the probability that a page after the first one has no calls', 'a probability', 0),
  firstPages: fraction('the probability that the first page is answered instead of another one', 'a probability', 0),
  /** 200 with an error or without a list in the body; no answer. */
  pastLast: oneOf('what a page after the last one is', ['empty', 404, 400, 500, 'error_200', 'null', 'reset']),
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
  duplicates: drawn(
    fraction('the probability that a page repeats the end of the one before', 'a probability', 0),
    (stream, intensity) => (chance(stream, 0.5) ? 0.5 * stream() * intensity : 0),
  ),
  /** `not_found`: those that are open then, or over for less than half of their time on the list, have vanished. */
  unlisted: drawn(oneOf('whether Get Call knows calls too old for the list', ['found', 'not_found']), (stream) =>
    pick(stream, ['found', 'not_found']),
  ),
  /** `sometimes`: a third of the answers have none. */
  date: drawn(oneOf('whether answers have a Date header', ['given', 'absent', 'sometimes']), (stream, intensity) =>
    chance(stream, 0.1 * intensity) ? 'absent' : 'given',
  ),
  /** Get Call does not know a call that began since then. Open calls that the list shows are not lost for that. */
  getCallLag: numberUpTo('by how many seconds Get Call lags', 3600),
  /** `prefixed`: the ids that the app chose with `v1.us.simulator.` before them, as webhooks have them. The list shows them without. */
  getCallIds: drawn(oneOf('how Get Call shows ids', ['listed', 'prefixed']), (stream) =>
    chance(stream, 0.3) ? 'prefixed' : 'listed',
  ),
  /** An empty list as where it is the list of a session's calls. */
  unknownCall: oneOf('how Get Call answers for a session that it does not know', ['not_found', 'empty_list']),
  /** Get Call shows them. */
  listedParticipants: oneOf('whether List Calls shows participants', ['given', 'absent']),
  /**
   * What the list shows of a session whose next call begins. `A`: a row for each call. `B`: the new call in place of the one before,
   * which Get Call does not know either. Expected: a call that was replaced before two polls have seen its last state may be unknown
   * (`setAside`: `replaced`). `C`: now and then one call that goes on, with the same mid and start; other calls have a session of
   * their own. Expected: as with the fact `reopened`.
   */
  listedAs: oneOf('the rows of a session with several calls', ['A', 'B', 'C']),
  /**
   * `late`: 20 to 60 seconds after the first join. `room`: one for all calls of a session.
   */
  mids: oneOf('the mids of calls', ['given', 'late', 'none', 'room']),
  sessionGap: { ...numberUpTo('the fewest seconds between two calls of a session', 3600), initial: 1 },
  /** The session of a call that was over before the service started, and whose row leaves. Expected: a further call. */
  reusedIds: fraction("the probability that a call is in an earlier call's session", 'a probability', 0),
  /** Of the clock that the calls' times are from; negative: behind. */
  dateOffset: seconds('how far the Date header is ahead'),
  wrongDates: numberUpTo('how many of the first answers have a wrong Date', 1e6),
  /** Beside `dateOffset`. */
  wrongDateOffset: seconds('how far a wrong Date is ahead'),
  oddDates: fraction('the probability that an answer has a wrong Date', 'a probability', 0),
  /** Of every call that begins. The tables of facts say what is expected. */
  facts: drawn(probabilities('anomalies of a call', factNames), (stream, intensity) =>
    independent(
      stream,
      Object.keys(ordinaryFacts),
      (name) => FACT * intensity * (SETTING_ASIDE.includes(name) ? 0.5 : 1),
    ),
  ),
  /** Of each call in each answer. */
  odd: drawn(probabilities('malformed fields of a call in an answer', oddityNames), (stream, intensity) =>
    independent(stream, oddityNames, (name) => ODDITY * intensity * (name === 'unusable' ? UNUSABLE : 1)),
  ),
}

/** The values of all switches. */
export type Switches = ValuesOf<typeof switchTable>

export const defaultSwitches = defaultsOf(switchTable)

/** The switches of a world, as the simulator passes them on. */
export function allOf(switches: PlainSwitches): Switches {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- those of a world are of this table
  return switches as Switches
}

function withValues<Of extends Switch<string> | Switch<string | number>>(one: Of, more: readonly string[]): Of {
  return {
    ...one,
    expected: [one.expected, ...more.map((value) => JSON.stringify(value))].join(' or '),
    accepts: (value) => one.accepts(value) || more.some((each) => each === value),
  }
}

function drawn<Value>(one: Switch<Value>, draw: (stream: Random, intensity: number) => Value): Switch<Value> {
  return { ...one, draw }
}

function fraction(about: string, kind: string, initial: number): Switch<number> {
  return { ...numberUpTo(about, 1), initial, expected: `${kind} from 0 to 1` }
}

function seconds(about: string): Switch<number> {
  return { about, initial: 0, expected: 'a number of seconds', accepts: (value) => Number.isFinite(value) }
}

/** Probabilities from 0 to twice the mean. */
function independent(stream: Random, names: readonly string[], mean: (name: string) => number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, stream() * 2 * mean(name)]))
}
