import type { Logger } from 'pino'
import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import { formatValue, detailsOf, titleOf } from '../notifications/text/notification-text.ts'
import { formatNumber } from '../text/format.ts'

export type AlertLogOptions = {
  log: Logger
  clock: Pick<Clock, 'monotonic'>
  /** Seconds between two polls of a target. */
  interval: () => number
}

/** Logs each change of state of alerts; where many of one rule change together, most of them in one line. */
export type AlertLog = {
  /** What an evaluation of a target changed. */
  changed: (target: string, delta: AlertDelta) => void
  /** The changes of state that notifications are about; a reminder is none. */
  notified: (notifications: readonly Notification[]) => void
  /** Logs what is due; to be called every few seconds. */
  tick: () => void
  /** Logs all that has no line yet. */
  flush: () => void
}

/** How many changes of one rule to one state have lines of their own in a period, which is an interval, or so many seconds. */
const MAX_LINES = 10
const MIN_PERIOD_SECONDS = 60
/** The names that a log line has at most. */
const MAX_NAMES = 20

/** Of one alert, and of several. */
const STATES = {
  pending: ['is pending', 'are pending'],
  inactive: ['is no longer pending', 'are no longer pending'],
  firing: ['is firing', 'are firing'],
  resolved: ['has resolved', 'have resolved'],
  expired: ['expired', 'expired'],
} as const
type State = keyof typeof STATES

/** What a line is about. */
type Fields = Pick<Notification, 'target' | 'alert' | 'labels' | 'severity' | 'value' | 'threshold'> & { state: State }

/** The changes of one rule to one state since the first one (by the monotonic clock). */
type Burst = {
  began: number
  lines: number
  /** The alerts without a line, and the latest change of them. */
  others: Set<string>
  targets: Set<string>
  latest: { fields: Fields; line: string }
}

export function alertLog({ log, clock, interval }: AlertLogOptions): AlertLog {
  const bursts = new Map<string, Burst>()

  /** Logs a change at `info`; beyond the first of many at `debug`, and in the line that says how many there were. */
  function write(fields: Fields, what: string): void {
    const { target, alert, labels, state } = fields
    const name = `${titleOf({ alert, labels })} on ${target}`
    const line = `alert ${name} ${STATES[state][0]}${what}`
    const key = `${state} ${alert}`
    const began = clock.monotonic()
    const burst = bursts.get(key) ?? {
      began,
      lines: 0,
      others: new Set(),
      targets: new Set(),
      latest: { fields, line },
    }
    bursts.set(key, burst)
    if (burst.lines < MAX_LINES) {
      burst.lines += 1
      log.info(fields, line)
      return
    }
    burst.others.add(name)
    burst.targets.add(target)
    burst.latest = { fields, line }
    log.debug(fields, line)
  }

  function writePending({ rule, labels, value }: AlertInstance, target: string, state: 'pending' | 'inactive'): void {
    const { name: alert, severity, signal, breach, threshold } = rule
    const was = state === 'pending' ? '' : ', and was last at'
    const values = `${formatValue(rule, value)}, threshold ${formatValue({ signal }, threshold)} (${breach})`
    write({ target, alert, labels, severity, state, value, threshold }, `${was}: ${values}`)
  }

  function notified(notifications: readonly Notification[]): void {
    for (const notification of notifications) {
      const { kind, target, alert, labels, severity, value, threshold } = notification
      if (kind === 'reminder') continue
      write({ target, alert, labels, severity, state: kind, value, threshold }, `: ${detailsOf(notification)}`)
    }
  }

  /** One line of the alerts without one. */
  function writeOthers(isDue: (burst: Burst) => boolean): void {
    for (const [key, burst] of bursts) {
      if (!isDue(burst)) continue
      bursts.delete(key)
      const { others, targets, latest } = burst
      if (others.size === 0) continue
      if (others.size === 1) {
        log.info(latest.fields, latest.line)
        continue
      }
      const { alert, severity, state } = latest.fields
      const on = targets.size === 1 ? [...targets].join() : `${formatNumber(targets.size)} targets`
      const fields = { alert, severity, state, alerts: others.size, targets: [...targets].slice(0, MAX_NAMES) }
      log.info(fields, `${formatNumber(others.size)} more alerts of ${alert} ${STATES[state][1]}, on ${on}`)
    }
  }

  return {
    changed: (target, { changed, ended, notifications }) => {
      for (const instance of changed) if (isNew(instance)) writePending(instance, target, 'pending')
      for (const instance of ended) if (instance.state === 'pending') writePending(instance, target, 'inactive')
      notified(notifications)
    },
    notified,
    tick: () => {
      const due = clock.monotonic() - Math.max(MIN_PERIOD_SECONDS, interval())
      writeOthers((burst) => burst.began <= due)
    },
    flush: () => writeOthers(() => true),
  }
}

/** Of a pending alert the evaluation that saw the breach first; none of those that follow is a change. */
function isNew({ state, since, evaluatedAt }: AlertInstance): boolean {
  return state === 'pending' && since === evaluatedAt
}
