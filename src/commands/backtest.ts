import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import { reachOf } from '../alerts/evidence.ts'
import { isReplayable, replay } from '../alerts/replay.ts'
import type { Rule } from '../alerts/rule.ts'
import { monthOf } from '../clock/calendar.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatValue, summaryOf } from '../notifications/text/notification-text.ts'
import { openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/store-reader.ts'
import { formatSeconds, formatTime } from '../text/format.ts'
import { isoTime } from '../clock/iso-time.ts'

export type BacktestOptions = {
  /** How far back (seconds). */
  since: number
  json: boolean
}

/** A period in which an alert would have fired; `end` is undefined where it would still fire. */
type Incident = { fired: Notification; end: Notification | undefined; peak: number }

/** What fires at the start of the backtest began before: so much more history shows since when (seconds). */
const LEAD_SECONDS = 86_400

/** The incidents of a target's history. */
type TargetBacktest = {
  target: string
  /** The first and last evaluation in the history (UNIX seconds); undefined without any. */
  from: number | undefined
  to: number | undefined
  evaluations: number
  incidents: Incident[]
}

/**
 * Runs the configured rules over the history in the store, with what callwatch knew at each moment, and prints when each
 * would have fired and resolved. Reads the store beside a running daemon.
 *
 * @throws {StoreError} when there is no store, or it cannot be read
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
  const begin = since - LEAD_SECONDS
  const reach = Math.max(0, ...alerts.map(reachOf))
  const history = {
    evaluations: await reader.evaluations(target, begin),
    finishes: await reader.finishes(target, begin - reach),
  }
  const { notifications, instances } = replay(history, { target, rules: alerts, interval: poll.interval, monthOf })
  const evaluations = history.evaluations.filter(({ at }) => at >= since)
  return {
    target,
    from: evaluations[0]?.at,
    to: evaluations.at(-1)?.at,
    evaluations: evaluations.length,
    incidents: incidentsOf(notifications, instances).filter(({ end }) => end === undefined || end.at >= since),
  }
}

function incidentsOf(notifications: readonly Notification[], instances: readonly AlertInstance[]): Incident[] {
  const incidents: Incident[] = []
  for (const notification of notifications) {
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
    ...skipped.map(({ name, signal }) => `${name}: not replayed, the history lacks the data of ${signal.name}`),
  ]
}

function targetLines(
  { target, from, to, evaluations, incidents }: TargetBacktest,
  rules: readonly Rule[],
  since: number,
): string[] {
  if (from === undefined || to === undefined) return [`${target}: no evaluations since ${formatTime(since)}`]
  const head = `${target}: ${evaluations} evaluations, ${formatTime(from)} to ${formatTime(to)}`
  const alerts = rules.filter(isReplayable).flatMap(({ name }) => {
    const own = incidents.filter(({ fired }) => fired.alert === name)
    if (own.length === 0) return [`  ${name}: would not have fired`]
    const seconds = own.reduce((sum, { fired, end }) => sum + (end?.at ?? to) - fired.at, 0)
    const times = own.length === 1 ? 'once' : `${own.length} times`
    return [`  ${name}: would have fired ${times}, for ${formatSeconds(seconds)} in all`, ...own.map(incidentLine)]
  })
  return [head, ...alerts]
}

function incidentLine({ fired, end, peak }: Incident): string {
  const which = fired.key === fired.alert ? '' : ` ${fired.key.slice(fired.alert.length)}`
  const fate = end === undefined ? 'would still fire' : `${end.kind} after ${formatSeconds(end.at - fired.at)}`
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
