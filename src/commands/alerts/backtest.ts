import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { Notification } from '../../alerts/notification.ts'
import { reachOf } from '../../alerts/evidence.ts'
import { earlierReach } from '../../alerts/relative.ts'
import { usualReach, withUsual } from '../../alerts/usual.ts'
import { isReplayable, replay, type EvaluatedValue } from '../../alerts/replay.ts'
import { worstOf } from '../../alerts/rule-value.ts'
import type { Rule } from '../../alerts/rule.ts'
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { loadRules } from '../../config/load-rules.ts'
import { formatValue, summaryOf } from '../../alerts/text/alert-text.ts'
import { openReader } from '../../store/open-store.ts'
import type { StoreReader } from '../../store/reader.ts'
import { chartLines } from './text-chart.ts'
import { formatSeconds, formatTime, plural } from '../../text/format.ts'
import { backtestView, type Incident, type TargetBacktest } from '../../views/commands/backtest.ts'
import type { Declare } from '../command.ts'
import { lengthOf } from '../../history/coverage.ts'
import { givenTime } from '../../history/queries/parameters.ts'
import { ruleSummary } from './rule-summary.ts'

/** Of more targets only a row for each rule is printed, unless all are wanted. */
const MOST_TARGETS = 3

/** Reads this much more history, so that alerts that already fire at the start have their real beginning (seconds). */
const LEAD_SECONDS = 86_400

/** The values of each rule that was replayed, by its name. */
type Values = ReadonlyMap<string, readonly EvaluatedValue[]>
/** @property created when it was set up (UNIX seconds) */
type Backtested = TargetBacktest & { values: Values; created: number }

/**
 * Runs the configured rules, or others, over the history in the store, with what callwatch knew at each time. Prints when
 * each rule would have fired and resolved.
 */
export const declare: Declare = (command, { configured, print, printWhole, env, cwd }) =>
  void command
    .option('--since <time>', 'start at this date or time, or this long ago', '7d')
    .option('--rule <file>', 'use the rules of this file (one rule or a list) instead of the configured rules')
    .option('--all', `print details of each target, even of more than ${MOST_TARGETS}`, false)
    .option('--json', 'print the result as JSON', false)
    .action(async ({ since, rule: file, json, all, ...options }) => {
      const config = await configured(options)
      const { history } = config.store
      const alerts = file === undefined ? config.alerts : loadRules({ file, env, cwd, history })
      const from = givenTime('--since', since, 'UTC', systemClock.wall())
      await using reader = await openReader(config.store)
      const found: Backtested[] = []
      for (const { name } of config.targets) found.push(await backtestTarget(reader, name, from, { ...config, alerts }))
      const skipped = alerts.filter((rule) => !isReplayable(rule))
      if (json) return print(JSON.stringify(backtestView(found, skipped), null, 2))
      if (found.length > 1) for (const line of [...rulesOf(found, alerts), '']) printWhole(line)
      if (all || found.length <= MOST_TARGETS)
        for (const line of found.flatMap((target) => targetLines(target, { since: from }))) print(line)
      else print(`--all prints when, on each of ${plural(found.length, 'target')}`)
      for (const { name, signal } of skipped)
        print(`${name}: not replayed, the history lacks the data of ${signal.name}`)
    })

async function backtestTarget(
  reader: StoreReader,
  target: string,
  since: number,
  { alerts, poll }: Config,
): Promise<Backtested> {
  const begin = since - LEAD_SECONDS
  const reach = Math.max(0, ...alerts.map((rule) => Math.max(reachOf(rule), earlierReach(rule), usualReach(rule))))
  const history = {
    evaluations: await reader.evaluations(target, begin),
    finishes: await reader.finishes(target, begin - reach),
    sync: (await reader.target(target))?.sync ?? { created: 0 },
    gaps: await reader.gaps(target, poll.lookback),
  }
  const { notifications, instances, values } = replay(history, {
    target,
    rules: alerts,
    interval: poll.interval,
  })
  const shown: Values = new Map([...values].map(([name, all]) => [name, all.filter(({ at }) => at >= since)]))
  const evaluations = history.evaluations.filter(({ at }) => at >= since)
  return {
    target,
    created: history.sync.created,
    from: evaluations[0]?.at,
    to: evaluations.at(-1)?.at,
    evaluations: evaluations.length,
    incidents: incidentsOf(notifications, instances).filter(({ end }) => end === undefined || end.at >= since),
    values: shown,
    rules: alerts.filter(isReplayable).map((rule) => ({ rule, worst: worstOf(rule, shown.get(rule.name) ?? []) })),
  }
}

function incidentsOf(notifications: readonly Notification[], instances: readonly AlertInstance[]): Incident[] {
  const incidents: Incident[] = []
  for (const notification of notifications) {
    if (notification.kind === 'firing') incidents.push({ fired: notification, end: undefined, peak: notification.peak })
    if (notification.kind !== 'resolved' && notification.kind !== 'expired') continue
    const open = incidents.findLast(({ fired, end }) => fired.key === notification.key && end === undefined)
    if (open !== undefined) [open.end, open.peak] = [notification, notification.peak]
  }
  for (const { key, peak } of instances) {
    const open = incidents.findLast(({ fired, end }) => fired.key === key && end === undefined)
    if (open !== undefined) open.peak = peak
  }
  return incidents
}

function targetLines(found: Backtested, { since }: { since: number }): string[] {
  const { target, from, to, evaluations, incidents, created } = found
  if (from === undefined || to === undefined) return [`${target}: no evaluations since ${formatTime(since)}`]
  const head = `${target}: ${evaluations} evaluations, ${formatTime(from)} to ${formatTime(to)}`
  const why = created > since ? ['  no earlier ones: calls from before the set-up fire no alerts'] : []
  const alerts = found.rules.flatMap(({ rule, worst }) => {
    const own = incidents.filter(({ fired }) => fired.alert === rule.name)
    const fired = own.length === 0 ? 'would not have fired' : firedText(own, to)
    return [
      `  ${rule.name}: ${fired}`,
      `    ${worstText(rule, worst)}`,
      ...own.map(incidentLine),
      ...chartOf(withUsual(rule, worst?.usual), found.values.get(rule.name) ?? [], { from, to }),
    ]
  })
  return [head, ...why, ...alerts]
}

function rulesOf(found: readonly Backtested[], rules: readonly Rule[]): string[] {
  const fired = found.flatMap(({ target, incidents, to }) =>
    incidents.map((one) => ({ rule: one.fired.alert, target, ...periodOf(one, to ?? one.fired.at) })),
  )
  const replayed = rules.filter(isReplayable).map(({ name }) => name)
  return ruleSummary(fired, replayed)
}

/** @param to when the history ends (UNIX seconds) */
const periodOf = ({ fired, end }: Incident, to: number) => ({ from: fired.at, to: end?.at ?? to })

function firedText(incidents: readonly Incident[], to: number): string {
  const seconds = lengthOf(incidents.map((incident) => periodOf(incident, to)))
  const times = incidents.length === 1 ? 'once' : `${incidents.length} times`
  return `would have fired ${times}, for ${formatSeconds(seconds)} in all`
}

/** `largest value 28.5% of 40 calls at 2026-09-21 14:37:20 UTC (type=video), threshold 30%, usually 5%`. */
function worstText(rule: Rule, worst: EvaluatedValue | undefined): string {
  const usual = worst?.usual === undefined ? '' : `, usually ${formatValue(rule, worst.usual)}`
  const threshold = `threshold ${formatValue(rule, withUsual(rule, worst?.usual).threshold)}${usual}`
  if (worst === undefined) return `no value that could be compared, ${threshold}`
  const { at, value, calls, labels } = worst
  const group = Object.entries(labels).map(([label, of]) => `${label}=${of}`)
  // If the value is a number of calls, it is not repeated.
  const ofCalls = calls === undefined || calls === value ? '' : ` of ${plural(calls, 'call')}`
  const where = group.length === 0 ? '' : ` (${group.join(', ')})`
  const which = rule.breach === 'above' ? 'largest' : 'smallest'
  return `${which} value ${formatValue(rule, value)}${ofCalls} at ${formatTime(at)}${where}, ${threshold}`
}

function chartOf(rule: Rule, values: readonly EvaluatedValue[], { from, to }: { from: number; to: number }): string[] {
  if (values.length === 0) return []
  const { threshold, breach } = rule
  const points = values.map(({ at, value }) => [at, value] as const)
  return chartLines({ values: points, from, to, threshold, breach, format: (value) => formatValue(rule, value) })
}

function incidentLine({ fired, end, peak }: Incident): string {
  const which = fired.key === fired.alert ? '' : ` ${fired.key.slice(fired.alert.length)}`
  const fate = end === undefined ? 'would still fire' : `${end.kind} after ${formatSeconds(end.at - fired.at)}`
  return `    ${formatTime(fired.at)}${which}  ${summaryOf(fired)}; ${fate}, worst ${formatValue(fired, peak)}`
}
