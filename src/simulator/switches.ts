import { faultNames, webhookFaultNames } from './answers/faults.ts'
import { chance, pick, random, weighted, whole, type Random } from './random.ts'

/** A switch: a line of help, its default, its values in words (for help and refusals), and a check of values. */
export type Switch<Value> = {
  about: string
  initial: Value
  expected: string
  accepts: (value: unknown) => boolean
  /** Draws another value. `intensity` is from 0 (nothing goes wrong) to 1. */
  draw?: (random: Random, intensity: number) => Value
}

export type SwitchTable = Record<string, Switch<unknown>>

/** The share of requests that meet a fault at intensity 1. */
const FAULTS = 0.25

/**
 * All switches: how the service behaves where its reference does not say, and what goes wrong. They may change while the
 * service runs. To add a switch, add an entry here. The first of several values is the default.
 */
export const switchTable = {
  /** If false, no further calls begin. Running calls continue to their end. */
  arrivals: oneOf('no further calls begin', [true, false]),
  /** By when calls began. `shuffled` gives another order for each request. */
  order: {
    ...oneOf<string>('list order', ['newest', 'oldest', 'shuffled']),
    draw: (stream) => weighted(stream, Object.entries({ newest: 4, oldest: 2, shuffled: 1 })),
  },
  /** Honoured up to 100, which is what the vendor's clients state, or up to a number. */
  perPage: {
    ...wholeNumberOr<string>('the most calls of a page', ['honoured', 'ignored']),
    draw: (stream) =>
      chance(stream, 0.2) ? whole(stream, 10, 90) : weighted(stream, Object.entries({ honoured: 3, ignored: 1 })),
  },
  total: {
    ...oneOf<string>('the total of calls', ['given', 'absent']),
    draw: (stream) => (chance(stream, 0.25) ? 'absent' : 'given'),
  },
  perPageField: drawn(oneOf('lengths of pages in answers', ['absent', 'given'])),
  /** The call, bare or below `data`, alone or in a list. */
  getCall: drawn(oneOf("Get Call's body", ['object', 'bare', 'list', 'bare_list'])),
  /**
   * With `reused`, meetings of a group have its id as session id, one after the other: some begin a second after the one before. A
   * meeting that finds the room in use for long has a session of its own.
   */
  sessions: oneOf('group session ids', ['unique', 'reused']),
  /** With `startedAt`, that is when the call began to ring, also while it rings. */
  times: drawn(oneOf('times of a beginning', ['both', 'startedAt'])),
  /** As seen on the live service, a call that failed has no `endedAt`. */
  failedEnds: drawn(oneOf('endedAt of failed calls', ['absent', 'given'])),
  empty: drawn(oneOf('fields without a value', ['omitted', 'null'])),
  receiverTypes: drawn(oneOf('receiver types', ['user', 'users'])),
  /** Of List Calls, by a user (`uid`) and by a group (`guid`). */
  peopleFilters: oneOf('uid, guid', ['honoured', 'ignored', 'refused']),
  /** `raw`: of the characters that a path segment may contain, none is decoded (RFC 3986 §3.3). */
  pathIds: drawn(oneOf('ids in paths', ['decoded', 'raw'])),
  /** Unlisted calls still count: a daemon that polls often enough must have counted them. */
  listedSeconds: wholeNumberOr('seconds a call is listed', ['forever']),
  /** The oldest calls leave the list. A daemon must count them like those of `listedSeconds`. */
  mostListed: wholeNumberOr('calls listed', ['all']),
  answerSeconds: numberUpTo('seconds an answer takes', 60),
  rateLimitHeaders: drawn(oneOf("how the rate limit's headers begin", ['X-RateLimit', 'X-Rate-Limit', 'absent'])),
  /** Applies to every request to the service. */
  fault: {
    ...probabilities('faults of a request', faultNames, 1),
    draw: (stream, intensity) => shares(stream, faultNames, FAULTS * intensity),
  },
  /** Applies to every webhook that the service sends. */
  webhookFault: probabilities('faults of a webhook', webhookFaultNames, 1),
  outage: oneOf('every connection to the service is reset', [true, false], false),
} satisfies SwitchTable

/** The values of all switches of a table. */
export type ValuesOf<Table extends Record<string, { initial: unknown }>> = {
  [Name in keyof Table]: Table[Name]['initial']
}

export type Switches = ValuesOf<typeof switchTable>

export const defaultSwitches = defaultsOf(switchTable)

export function defaultsOf<Table extends SwitchTable>(table: Table): ValuesOf<Table> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every switch has its own value
  return Object.fromEntries(Object.entries(table).map(([name, { initial }]) => [name, initial])) as ValuesOf<Table>
}

/**
 * Random values that differ from the defaults. The same seed gives the same values. Each switch has its own random stream.
 *
 * @param intensity from 0 (calm: only values that are no faults, such as the order) to 1
 */
export function drawSwitches<Table extends SwitchTable>(
  table: Table,
  seed: number | string,
  intensity: number,
): Partial<ValuesOf<Table>> {
  const drawn = Object.entries(table).flatMap(([name, { draw }]) =>
    draw === undefined ? [] : [[name, draw(random(seed, 'switch', name), intensity)] as const],
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every switch draws its own value
  return Object.fromEntries(drawn) as Partial<ValuesOf<Table>>
}

/** The switches after a patch with new values, or what is wrong with the patch. Probabilities are replaced as a whole. */
export function patchSwitches<Values>(
  table: SwitchTable,
  current: Values,
  patch: unknown,
): { switches: Values } | { problem: string } {
  if (!isObject(patch)) return { problem: 'expected a JSON object with switches' }
  for (const [name, value] of Object.entries(patch)) {
    const known = Object.hasOwn(table, name) ? table[name] : undefined
    if (known === undefined) {
      return { problem: `unknown switch "${name}"; there are ${Object.keys(table).join(', ')}` }
    }
    const { expected, accepts, initial } = known
    const form = isObject(initial) ? 'an object with ' : ''
    if (!accepts(value)) {
      return { problem: `switch "${name}": expected ${form}${expected}, got ${JSON.stringify(value)}` }
    }
  }
  return { switches: { ...current, ...patch } }
}

export function oneOf<const Value>(about: string, values: readonly Value[], initial = values[0]!) {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ')
  return { about, initial, values, expected, accepts: (value: unknown) => values.some((each) => each === value) }
}

/** Draws one of the values. */
function drawn<Value>(one: Switch<Value> & { values: readonly Value[] }): Switch<Value> {
  return { ...one, draw: (stream) => pick(stream, one.values) }
}

export function wholeNumberOr<const Word extends string>(about: string, words: readonly Word[]): Switch<Word | number> {
  return {
    about,
    initial: words[0]!,
    expected: `${words.map((word) => JSON.stringify(word)).join(', ')} or a whole number above 0`,
    accepts: (value) => words.some((word) => word === value) || (Number.isInteger(value) && Number(value) >= 1),
  }
}

export function numberUpTo(about: string, most: number): Switch<number> {
  return { about, initial: 0, expected: `a number from 0 to ${most}`, accepts: (value) => isWithin(value, most) }
}

/** Probabilities, each from 0 to 1; absent means 0. `mostTogether` also limits their sum. */
export function probabilities<Name extends string>(
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
      const given = Object.entries(value)
      if (!given.every(([name, each]) => names.some((one) => one === name) && isWithin(each, 1))) return false
      return given.reduce((sum, [, each]) => sum + Number(each), 0) <= (mostTogether ?? Infinity) + 1e-9
    },
  }
}

/** Probabilities that add up to `sum`. Each is at least a fifth of an equal share. */
function shares<Name extends string>(stream: Random, names: readonly Name[], sum: number) {
  const weights = names.map((name) => [name, 0.25 + stream()] as const)
  const all = weights.reduce((total, [, weight]) => total + weight, 0)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of these names
  return Object.fromEntries(weights.map(([name, weight]) => [name, (sum * weight) / all])) as Record<Name, number>
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
