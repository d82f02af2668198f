import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import { reachOf } from '../alerts/evidence.ts'
import { isReplayable, replay } from '../alerts/replay.ts'
import type { Rule } from '../alerts/rule.ts'
import { monthOf } from '../clock/calendar.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds, formatTime, formatValue, summaryOf } from '../notify/text/notification-text.ts'
import { openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/store-reader.ts'
import { isoTime } from '../web/views.ts'

export type BacktestOptions = {
  /** How far back (seconds). */
  since: number
  json: boolean
}

/** One time that an alert would have fired. Times are UNIX seconds; `end` is undefined where it would fire still. */
type Incident = { fired: Notification; end: Notification | undefined; peak: number }

/** Seconds. */
const LEAD = 86_400

/** What the rules would have done over a target's history. */
type TargetBacktest = {
  target: string
  /** The first and last evaluation that the history holds; undefined where it holds none. */
  from: number | undefined
  to: number | undefined
  evaluations: number
  incidents: Incident[]
}

/**
 * Runs the configured rules over the history in the store, by what callwatch knew at each moment, and prints when each
 * would have fired and resolved. Beside a running daemon, without writing.
 *
 * @throws {StoreError} when there is no store, or none that can be read
 */
export async function backtest(
  config: Config,
  { since, json }: BacktestOptions,
  print: (line: string) => void,
): Promise<void> {
  const reader = await openReader(config.store)
  try {
    const from = systemClock.wall() - since
    const found: TargetBacktest[] = []
    for (const { name } of config.targets) found.push(await backtestTarget(reader, name, from, config))
    const skipped = config.alerts.filter((rule) => !isReplayable(rule))
    if (json) print(JSON.stringify(jsonOf(found, skipped), null, 2))
    else lines(found, config.alerts, skipped, from).forEach(print)
  } finally {
    await reader.close()
  }
}

async function backtestTarget(
  reader: StoreReader,
  target: string,
  since: number,
  { alerts, poll }: Config,
): Promise<TargetBacktest> {
  // What fires at the beginning began before: a day more shows since when.
  const begin = since - LEAD
  const reach = Math.max(0, ...alerts.map(reachOf))
  const history = {
    evaluations: await reader.evaluations(target, begin),
    finishes: await reader.finishes(target, begin - reach),
  }
  const { said, instances } = replay(history, { target, rules: alerts, interval: poll.interval, monthOf })
  const evaluations = history.evaluations.filter(({ at }) => at >= since)
  return {
    target,
    from: evaluations[0]?.at,
    to: evaluations.at(-1)?.at,
    evaluations: evaluations.length,
    incidents: incidentsOf(said, instances).filter(({ end }) => end === undefined || end.at >= since),
  }
}

function incidentsOf(said: readonly Notification[], instances: readonly AlertInstance[]): Incident[] {
  const incidents: Incident[] = []
  for (const notification of said) {
    if (notification.kind === 'firing') incidents.push({ fired: notification, end: undefined, peak: notification.peak })
    if (notification.kind !== 'resolved' && notification.kind !== 'closed') continue
    const open = incidents.findLast(({ fired, end }) => fired.key === notification.key && end === undefined)
    if (open !== undefined) [open.end, open.peak] = [notification, notification.peak]
  }
  for (const { key, peak } of instances) {
    const open = incidents.findLast(({ fired, end }) => fired.key === key && end === undefined)
    if (open !== undefined) open.peak = peak
  }
  return incidents
}

function lines(
  found: readonly TargetBacktest[],
  rules: readonly Rule[],
  skipped: readonly Rule[],
  since: number,
): string[] {
  return [
    ...found.flatMap((target) => targetLines(target, rules, since)),
    ...skipped.map(
      ({ name, signal }) => `${name}: not replayed, the history does not hold what ${signal.name} goes by`,
    ),
  ]
}

function targetLines(
  { target, from, to, evaluations, incidents }: TargetBacktest,
  rules: readonly Rule[],
  since: number,
): string[] {
  if (from === undefined || to === undefined) return [`${target}: no evaluation since ${formatTime(since)} is kept`]
  const head = `${target}: ${evaluations} evaluations, ${formatTime(from)} to ${formatTime(to)}`
  const told = rules.filter(isReplayable).flatMap(({ name }) => {
    const own = incidents.filter(({ fired }) => fired.alert === name)
    if (own.length === 0) return [`  ${name}: would not have fired`]
    const seconds = own.reduce((sum, { fired, end }) => sum + (end?.at ?? to) - fired.at, 0)
    const times = own.length === 1 ? 'once' : `${own.length} times`
    return [`  ${name}: would have fired ${times}, for ${formatSeconds(seconds)} in all`, ...own.map(incidentLine)]
  })
  return [head, ...told]
}

function incidentLine({ fired, end, peak }: Incident): string {
  const which = fired.key === fired.alert ? '' : ` ${fired.key.slice(fired.alert.length)}`
  const fate = end === undefined ? 'would fire still' : `${end.kind} after ${formatSeconds(end.at - fired.at)}`
  return `    ${formatTime(fired.at)}${which}  ${summaryOf(fired)}; ${fate}, worst ${formatValue(fired, peak)}`
}

function jsonOf(found: readonly TargetBacktest[], skipped: readonly Rule[]): object {
  const time = (seconds: number | undefined) => (seconds === undefined ? null : isoTime(seconds))
  return {
    targets: found.map(({ target, from, to, evaluations, incidents }) => ({
      target,
      from: time(from),
      to: time(to),
      evaluations,
      incidents: incidents.map(({ fired, end, peak }) => ({
        alert: fired.alert,
        labels: fired.labels,
        severity: fired.severity,
        fired: isoTime(fired.at),
        value: fired.value,
        threshold: fired.threshold,
        calls: fired.calls ?? null,
        ended: time(end?.at),
        end: end?.kind ?? null,
        peak,
      })),
    })),
    not_replayed: skipped.map(({ name }) => name),
  }
}
