import type { RowReader } from '../store/sql.ts'
import {
  coverageOf,
  lengthOf,
  readServiceNow,
  type BlindTime,
  type Coverage,
  type CoverageOptions,
} from './coverage.ts'
import { dayPairs, runningMonth, type DayPair } from './day-pairs.ts'
import type { Period } from './days.ts'
import { firedIn, type Fired } from './fired.ts'
import { endOf, historyScope, withCalls, type HistoryScope } from './history-scope.ts'
import { readRollups } from './rollups.ts'
import { add, addAll, amountsOf, KEYS, type Amounts, type Sums } from './sums.ts'
import { expectTargets, usageOf, type UsageKeys, type UsageQuery } from './usage.ts'

/** The numbers of a period. Times are UNIX seconds by the service's clock. */
export type PeriodReport = Period & {
  zone: string
  /** Whether it ends now. */
  isRunning: boolean
  by: UsageQuery['by']
  /** The period that it is compared with; undefined for an empty period. */
  before: Period | undefined
  coverage: Coverage
  /** Rows have calls in the period, or in what it is compared with. */
  rows: (Reported & { keys: UsageKeys })[]
  total: Reported
  /** The hour in which the largest share of calls failed, if clearly more than of all. */
  worstHour: WorstHour | undefined
  fired: Fired[]
  forecast: Forecast | undefined
}

/** What finished, how much of its time is not covered (seconds), and the comparison with the period before. */
export type Reported = { sums: Sums; blindSeconds: number; compared: Compared }

/**
 * How many days there are, counted for each of so many targets; on how many of them all calls are known, in this period and in the one
 * before; and what finished on those, in this period and in the one before.
 */
export type Compared = { targets: number; days: number; knownDays: number; now: Sums; before: Sums }

type WorstHour = { from: number; calls: number; failed: number }
/** What a calendar month will have had at its end, at the pace of the days of it that are known. */
type Forecast = Pick<Amounts, 'calls' | 'participantMinutes' | 'userMinutes'> & { until: number }

type Query = Omit<UsageQuery, 'from' | 'to'> & { from: number | undefined; to: number | undefined }

/** Whether all calls of a day are known: no; yes, but it is not compared; also those of the day that it is compared with. */
type Known = 'no' | 'now' | 'both'
/** Targets of which the same days are known. */
type Group = { names: readonly string[]; known: readonly Known[]; isConfigured: boolean }
type Days = { pairs: readonly DayPair[]; groups: readonly Group[] }

const HOUR = 3600
/** An hour is worse than others with so many calls, of which so many times as large a share failed. */
const MIN_HOUR_CALLS = 10
const WORSE_BY = 1.5
/** The shortest day, on which the clocks go forward. The change of what is known of less time would say little. */
const LEAST_COMPARED_SECONDS = 23 * HOUR
/** The pace of a shorter time would say little of a month. */
const LEAST_PACE_SECONDS = 86_400

/**
 * The report of a period. Without a start, it begins at the oldest call; it ends now at the latest.
 *
 * @param configured the targets of the configuration
 * @param now the host's clock (UNIX seconds)
 * @throws {QueryError} for an unknown target
 * @throws {StoreError} if the store cannot be read now
 */
export async function reportOf(
  store: RowReader,
  { from: since, to: until, ...query }: Query,
  { configured, now, listedFrom }: Pick<CoverageOptions, 'now' | 'listedFrom'> & { configured: readonly string[] },
): Promise<PeriodReport> {
  const { by, zone, targets, appOf } = query
  await expectTargets(store, targets ?? [], configured)
  const scope = await historyScope(store, { targets }, since ?? 0)
  const serviceNow = await readServiceNow(store, targets, now, Math.max)
  const end = Math.min(until ?? Infinity, endOf(scope, serviceNow))
  const from = since ?? Math.min(end, Math.floor(scope.oldest))
  const period = { from, to: Math.max(from, end) }
  const isRunning = until === undefined || until >= serviceNow
  const pairs = dayPairs(period, zone, isRunning)
  const before = periodBefore(pairs)
  const names = [...scope.names.values()]
  const asked = { from: before?.from ?? period.from, to: until ?? Infinity }
  const { blind: all } = await coverageOf(store, asked, { targets: names, now, listedFrom })
  // A target that was removed need not be polled.
  const watched = targets ?? configured
  const blind = within(period, all.filter(({ kind, target }) => kind === 'expired' || watched.includes(target))) // oxfmt-ignore
  const days = { pairs, groups: groupsOf(names, pairs, all, watched) }
  const { rows, groupSums } = await readRows(store, { ...query, ...period }, days)
  const describe = describer(days, names, blind, appOf)
  const total = { sums: new Map(), compared: { now: new Map(), before: new Map() } } satisfies Read
  for (const { sums, compared } of rows) {
    addAll(total.sums, sums)
    addAll(total.compared.now, compared.now)
    addAll(total.compared.before, compared.before)
  }
  const hours = await hoursOf(store, query, { scope, period })
  const skew = serviceNow - now
  return {
    ...period,
    zone,
    isRunning,
    by,
    before,
    coverage: { blindSeconds: lengthOf(blind), blind },
    rows: rows.map((row) => ({ keys: row.keys, ...describe(row, row.keys) })),
    total: describe(total, {}),
    worstHour: worstOf(hours, amountsOf(total.sums)),
    fired: await firedIn(store, { from: period.from - skew, to: period.to - skew }, targets),
    forecast: isRunning ? await forecastOf(store, { ...query, ...period }, days, groupSums) : undefined,
  }
}

function periodBefore(pairs: readonly DayPair[]): Period | undefined {
  const before = pairs.flatMap((pair) => pair.before ?? [])
  return before[0] && { from: before[0].from, to: before.at(-1)!.to }
}

/** What of these times lies in a period. */
function within<Time extends Period>({ from, to }: Period, times: readonly Time[]): Time[] {
  return times
    .map((time) => ({ ...time, from: Math.max(from, time.from), to: Math.min(to, time.to) }))
    .filter((time) => time.from < time.to)
}

function groupsOf(
  names: readonly string[],
  pairs: readonly DayPair[],
  blind: readonly BlindTime[],
  watched: readonly string[],
): Group[] {
  // What was noticed late is known.
  const unknown = Map.groupBy(blind.filter(({ kind }) => kind !== 'ended'), ({ target }) => target) // oxfmt-ignore
  const all = names.map((name): Group => {
    const isKnown = (day: Period) => within(day, unknown.get(name) ?? []).length === 0
    const known = pairs.map(({ now, before }): Known => {
      if (!isKnown(now)) return 'no'
      return before !== undefined && isKnown(before) ? 'both' : 'now'
    })
    const compared = pairs.filter((_, i) => known[i] === 'both').map(({ now }) => now)
    const isShort = lengthOf(compared) < LEAST_COMPARED_SECONDS
    return {
      names: [name],
      known: isShort ? known.map((each) => (each === 'both' ? 'now' : each)) : known,
      isConfigured: watched.includes(name),
    }
  })
  const groups = Map.groupBy(all, ({ known, isConfigured }) => `${isConfigured} ${known.join()}`)
  return [...groups.values()].map((own) => ({ ...own[0]!, names: own.flatMap((one) => one.names) }))
}

type Read = { sums: Sums; compared: { now: Sums; before: Sums } }

/** The rows of a report, and the sums of each group of targets. */
async function readRows(store: RowReader, query: UsageQuery, { pairs, groups }: Days) {
  const { by, from, to } = query
  const rows = new Map<string, Read & { keys: UsageKeys }>()
  const rowOf = (keys: UsageKeys) => {
    // Rows are sorted by their names.
    const name = Object.values(keys).join('\0')
    const row = rows.get(name) ?? { keys, sums: new Map(), compared: { now: new Map(), before: new Map() } }
    rows.set(name, row)
    return row
  }
  if (by.length === 0) rowOf({})
  const days = new Map(pairs.map(({ day, before }) => [before?.day, day]))
  const groupSums = new Map<Group, Sums>()
  for (const group of groups) {
    const read = async (period: Period) =>
      usageOf(store, { ...query, ...period, targets: namesOf(group, groups, query) })
    const sums: Sums = new Map()
    groupSums.set(group, sums)
    const own = await read({ from, to })
    for (const row of own) {
      addAll(sums, row.sums)
      addAll(rowOf(row.keys).sums, row.sums)
    }
    for (const part of partsOf(pairs, group.known, ['both'])) {
      const [begin, end] = [part[0]!, part.at(-1)!]
      const isAll = begin.now.from === from && end.now.to === to
      const now = isAll ? own : await read({ from: begin.now.from, to: end.now.to })
      for (const row of now) addAll(rowOf(row.keys).compared.now, row.sums)
      for (const row of await read({ from: begin.before!.from, to: end.before!.to })) {
        const { day } = row.keys
        const keys = day === undefined ? row.keys : { ...row.keys, day: days.get(day)! }
        addAll(rowOf(keys).compared.before, row.sums)
      }
    }
  }
  return { rows: [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row), groupSums }
}

/** As few names as possible: those of all targets together are read fastest. */
function namesOf({ names }: Group, groups: readonly Group[], { targets }: Pick<UsageQuery, 'targets'>) {
  return groups.length === 1 ? targets : names
}

/** The days of which this is known, in parts that have no other day in between, in neither period. */
function partsOf(pairs: readonly DayPair[], known: readonly Known[], wanted: readonly Known[]): DayPair[][] {
  const parts: DayPair[][] = []
  for (const [i, pair] of pairs.entries()) {
    if (!wanted.includes(known[i]!)) continue
    const last = parts.at(-1)
    const follows =
      last?.at(-1) === pairs[i - 1] && (wanted.includes('now') || pairs[i - 1]?.before?.to === pair.before?.from)
    if (last !== undefined && follows) last.push(pair)
    else parts.push([pair])
  }
  return parts
}

/** A function that adds to what was read how much of it is known. */
function describer(
  { pairs, groups }: Days,
  names: readonly string[],
  blind: readonly BlindTime[],
  appOf: UsageQuery['appOf'] = String,
) {
  const apps = Map.groupBy(names, appOf)
  const known = new Map(groups.flatMap((group) => group.names.map((name) => [name, group.known])))
  const blindOf = Map.groupBy(blind, ({ target }) => target)
  const numbers = new Map(pairs.map(({ day }, i) => [day, i]))
  return ({ sums, compared }: Read, { day, app, target }: UsageKeys): Reported => {
    const number = day === undefined ? undefined : numbers.get(day)!
    // A target that was added meanwhile has no days yet.
    const own = target === undefined ? (app === undefined ? names : (apps.get(app) ?? [])) : [target]
    const days = own.flatMap((name) => {
      const all = known.get(name) ?? []
      return number === undefined ? all : all.slice(number, number + 1)
    })
    const times = own.flatMap((name) => blindOf.get(name) ?? [])
    const knownDays = days.filter((each) => each === 'both').length
    return {
      sums,
      blindSeconds: lengthOf(number === undefined ? times : within(pairs[number]!.now, times)),
      compared: { targets: own.length, days: days.length, knownDays, ...compared },
    }
  }
}

/** What finished in each hour. */
async function hoursOf(
  store: RowReader,
  { aborted }: Pick<UsageQuery, 'aborted'>,
  { scope, period }: { scope: HistoryScope; period: Period },
): Promise<Map<number, Sums>> {
  const hours = new Map<number, Sums>()
  const partAt = (at: number) => Math.floor(at / HOUR)
  const reading = { scope, period: withCalls(scope, period), partAt, aborted }
  await readRollups(store, reading, (hour) => {
    const sums = hours.get(hour) ?? new Map<number, number>()
    hours.set(hour, sums)
    return (_labels, key, n) => {
      if (key < KEYS.duration) add(sums, key, n)
    }
  })
  return hours
}

function worstOf(hours: ReadonlyMap<number, Sums>, all: Amounts): WorstHour | undefined {
  const worse = [...hours].flatMap(([hour, sums]) => {
    const { calls, failed } = amountsOf(sums)
    const isWorse = calls >= MIN_HOUR_CALLS && failed / calls > (WORSE_BY * all.failed) / all.calls
    return isWorse ? { from: hour * HOUR, calls, failed } : []
  })
  return worse.toSorted((a, b) => b.failed / b.calls - a.failed / a.calls || a.from - b.from)[0]
}

async function forecastOf(
  store: RowReader,
  query: UsageQuery,
  { pairs, groups }: Days,
  groupSums: ReadonlyMap<Group, Sums>,
): Promise<Forecast | undefined> {
  const month = runningMonth(query, query.zone)
  if (month === undefined) return undefined
  const forecast = { until: month.to, calls: 0, participantMinutes: 0, userMinutes: 0 }
  let hasPace = false
  for (const group of groups) {
    const used = groupSums.get(group)!
    const known: Sums = group.known.includes('no') ? new Map() : used
    const parts = partsOf(pairs, group.known, ['now', 'both'])
    let seconds = 0
    for (const part of parts) {
      const { from, to } = { from: part[0]!.now.from, to: part.at(-1)!.now.to }
      seconds += to - from
      if (known === used) continue
      const targets = namesOf(group, groups, query)
      for (const { sums } of await usageOf(store, { ...query, from, to, by: [], targets })) addAll(known, sums)
    }
    const isPaced = group.isConfigured && seconds >= LEAST_PACE_SECONDS
    const rest = isPaced ? (month.to - query.to) / seconds : 0
    hasPace ||= isPaced
    const [all, pace] = [amountsOf(used), amountsOf(known)]
    for (const key of ['calls', 'participantMinutes', 'userMinutes'] as const)
      forecast[key] += all[key] + pace[key] * rest
  }
  return hasPace ? forecast : undefined
}
