import { faultNames } from './answers/faults.ts'
import { chance, pick, random, weighted, whole, type Random } from './random.ts'

/** A switch: what it does in a line (help), its default, its values in words (refusals, help), and a check for them. */
export type Switch<Value> = {
  about: string
  initial: Value
  expected: string
  accepts: (value: unknown) => boolean
  /** Another value, by chance; `intensity` from 0, at which nothing goes wrong, to 1. */
  draw?: (random: Random, intensity: number) => Value
}

export type SwitchTable = Record<string, Switch<unknown>>

/** At intensity 1 so many of all requests meet a fault. */
const FAULTS = 0.25
const PREFIXES = ['X-RateLimit', 'X-Rate-Limit', 'absent'] as const

/**
 * Every switch: how the service behaves where its reference is silent, and what goes wrong with it. Any may change while
 * the service runs. A new switch is an entry here; of a list of values the first is the default.
 */
export const switchTable = {
  /** false: no further calls begin; those that run continue to their end. */
  arrivals: oneOf('no further calls begin', [true, false]),
  /** By the calls' beginning; `shuffled` again for each request. */
  order: {
    ...oneOf<string>('the order of List Calls', ['newest', 'oldest', 'shuffled']),
    draw: (stream) => weighted(stream, Object.entries({ newest: 4, oldest: 2, shuffled: 1 })),
  },
  perPage: {
    ...wholeNumberOr<string>('the calls of a page', ['honoured', 'ignored']),
    draw: (stream) =>
      chance(stream, 0.2) ? whole(stream, 10, 90) : weighted(stream, Object.entries({ honoured: 3, ignored: 1 })),
  },
  total: {
    ...oneOf<string>('the total of calls', ['given', 'absent']),
    draw: (stream) => (chance(stream, 0.25) ? 'absent' : 'given'),
  },
  /** What happened counts all the same: expected of a daemon that polls at least that often. */
  listedSeconds: wholeNumberOr('seconds a call is listed', ['forever']),
  /** The oldest make room. Expected: as with `listedSeconds`. */
  mostListed: wholeNumberOr('calls listed', ['all']),
  answerSeconds: numberUpTo('seconds an answer takes', 60),
  rateLimitHeaders: {
    ...oneOf("how the rate limit's headers begin", PREFIXES),
    draw: (stream) => pick(stream, PREFIXES),
  },
  /** Of every request to the service. */
  fault: {
    ...probabilities('faults of a request', faultNames, 1),
    draw: (stream, intensity) => shares(stream, faultNames, FAULTS * intensity),
  },
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
 * Values that differ from the defaults by chance: the same seed, the same values. Each switch has a stream of its own.
 *
 * @param intensity 0 (calm, but for what is no fault, such as the order) to 1
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

/**
 * The switches after a patch: known names with new values, probabilities each replaced as a whole; or what is wrong with it.
 */
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

export function oneOf<const Value>(about: string, values: readonly Value[], initial = values[0]!): Switch<Value> {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ')
  return { about, initial, expected, accepts: (value) => values.some((each) => each === value) }
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

/** Each 0 to 1, absent for 0; with `mostTogether` their sum is limited as well. */
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

/** Probabilities that add up to `sum`, each at least a fifth of an equal share. */
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
