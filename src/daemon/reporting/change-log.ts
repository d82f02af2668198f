import type { Logger } from 'pino'
import { formatNumber, formatSeconds } from '../../text/format.ts'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { AlertDelta } from '../../alerts/evaluate.ts'
import type { Notification } from '../../alerts/notification.ts'
import { detailsOf, formatValue, titleOf } from '../../notifications/text/notification-text.ts'
import { listWarnings } from '../../ledger/list-warnings.ts'
import type { DaemonEvent } from '../daemon-event.ts'

/** A change of state of a target or of one of its alerts. */
type Change = {
  level: 'info' | 'warn'
  target: string
  /** `fields` are in the change's own line, `shared` also in a line about many changes. */
  fields: object
  shared?: object
  line: string
  /** The text of many such changes, after their number: `more alerts of NoCalls are firing`. */
  together: string
  /** The cause, if it can differ between such changes. */
  cause?: string
}

/** Logs each change of state as a line. If many changes come at the same time, most of them share a line. */
export type ChangeLog = {
  add: (change: Change) => void
  /** Logs the collected changes. Call it every few seconds, and at the end. */
  flush: () => void
}

/** How many changes with the same text get a line of their own each time. */
const MAX_LINES = 3
/** The most names in a log line. */
export const MAX_NAMES = 20
/** The most causes in one, and the most names of each. */
const MAX_CAUSES = 3
const MAX_NAMES_OF_CAUSE = 5

export function changeLog(log: Logger): ChangeLog {
  /** The changes since the last flush, by their common text. */
  const changes = new Map<string, Change[]>()

  function write({ level, target, fields, shared, line }: Change, at: Change['level'] | 'debug' = level): void {
    log[at]({ target, ...shared, ...fields }, line)
  }

  return {
    add: (change) => {
      const same = changes.get(change.together) ?? []
      changes.set(change.together, same)
      same.push(change)
      write(change, same.length > MAX_LINES ? 'debug' : change.level)
    },
    flush: () => {
      for (const same of changes.values()) {
        const [first, ...more] = same.slice(MAX_LINES)
        if (first === undefined) continue
        if (more.length === 0) write(first)
        else writeTogether([first, ...more])
      }
      changes.clear()
    },
  }

  function writeTogether(same: readonly [Change, ...Change[]]): void {
    const [{ level, together, shared }] = same
    const targets = [...new Set(same.map(({ target }) => target))]
    const where = targets.length === 1 ? targets[0] : `${formatNumber(targets.length)} targets`
    const on = targets.length === same.length ? '' : `, on ${where}`
    log[level](
      { ...shared, changes: same.length, targets: targets.slice(0, MAX_NAMES) },
      `${formatNumber(same.length)} ${together}${on}${causesOf(same)}`,
    )
  }
}

/** `: cause`, or the most common causes, each with its targets: `: 401 on globex, initech; a timeout on umbrella`. */
function causesOf(changes: readonly Change[]): string {
  const byCause = Map.groupBy(changes, ({ cause }) => cause ?? '')
  const groups = [...byCause].toSorted(([, a], [, b]) => b.length - a.length)
  const [[only] = ['']] = groups
  if (groups.length === 1) return only && `: ${only}`
  const shown = groups.slice(0, MAX_CAUSES).map(([cause, same]) => `${cause} on ${namesOf(same)}`)
  const others = groups.slice(MAX_CAUSES).flatMap(([, same]) => same).length
  return `: ${[...shown, ...(others > 0 ? [`other causes on ${formatNumber(others)} targets`] : [])].join('; ')}`
}

function namesOf(changes: readonly Change[]): string {
  const names = changes.slice(0, MAX_NAMES_OF_CAUSE).map(({ target }) => target)
  const others = changes.length - names.length
  return `${names.join(', ')}${others > 0 ? ` and ${formatNumber(others)} others` : ''}`
}

/** The texts for one alert and for several. */
const STATES = {
  pending: ['is pending', 'are pending'],
  inactive: ['is no longer pending', 'are no longer pending'],
  firing: ['is firing', 'are firing'],
  resolved: ['has resolved', 'have resolved'],
  expired: ['expired', 'expired'],
} as const

/** What a line is about. */
type Changed = Pick<Notification, 'target' | 'alert' | 'labels' | 'severity' | 'value' | 'threshold'> & {
  state: keyof typeof STATES
}

/** Logs the changes of alerts that an evaluation of a target led to. */
export function logAlerts(log: ChangeLog, target: string, { changed, ended, notifications }: AlertDelta): void {
  for (const instance of changed) if (isNew(instance)) logPending(log, target, instance, 'pending')
  for (const instance of ended) if (instance.state === 'pending') logPending(log, target, instance, 'inactive')
  logNotified(log, notifications)
}

/** Logs the changes of state behind notifications. A reminder is no change. */
export function logNotified(log: ChangeLog, notifications: readonly Notification[]): void {
  for (const notification of notifications) {
    const { kind, target, alert, labels, severity, value, threshold } = notification
    if (kind === 'reminder') continue
    write(log, { target, alert, labels, severity, state: kind, value, threshold }, `: ${detailsOf(notification)}`)
  }
}

function logPending(
  log: ChangeLog,
  target: string,
  { rule, labels, value }: AlertInstance,
  state: 'pending' | 'inactive',
): void {
  const { name: alert, severity, signal, breach, threshold } = rule
  const was = state === 'pending' ? '' : ', and was last at'
  const values = `${formatValue(rule, value)}, threshold ${formatValue({ signal }, threshold)} (${breach})`
  write(log, { target, alert, labels, severity, state, value, threshold }, `${was}: ${values}`)
}

function write(log: ChangeLog, { target, alert, severity, state, ...fields }: Changed, what: string): void {
  const [one, several] = STATES[state]
  const line = `alert ${titleOf({ alert, labels: fields.labels })} on ${target} ${one}${what}`
  const shared = { alert, severity, state }
  log.add({ level: 'info', target, fields, shared, line, together: `more alerts of ${alert} ${several}` })
}

/** Whether this evaluation is the first that saw the breach of a pending alert. Later evaluations change nothing. */
function isNew({ state, since, evaluatedAt }: AlertInstance): boolean {
  return state === 'pending' && since === evaluatedAt
}

type Polled = Extract<DaemonEvent, { kind: 'polled' }>

/** Logs polls: a problem with a target's list once while it lasts, and when a target goes up or down. */
export function pollLog(log: Logger, changes: ChangeLog): (event: Polled) => void {
  const warned = new Map<string, readonly string[]>()
  return (event) => {
    const { target } = event
    const warnings = warningsOf(event)
    for (const { kind, fields, message } of warnings)
      if (warned.get(target)?.includes(kind) !== true) log.warn({ target, ...fields }, message)
    warned.set(
      target,
      warnings.map(({ kind }) => kind),
    )
    logPoll(log, changes, event)
  }
}

function warningsOf({ report: { refusedFrom: page, slowSweep }, sync }: Polled) {
  const warnings: { kind: string; fields: object; message: string }[] = []
  const warn = (kind: string, fields: object, message: string) => void warnings.push({ kind, fields, message })
  if (page !== undefined)
    warn(`refused ${page}`, { page }, `the service refuses page ${page} of its list and what follows`)
  if (slowSweep !== undefined) {
    const { pages, seconds } = slowSweep
    const long = `the whole list (${pages} pages) takes ${seconds} s to read, longer than poll.sweep_interval`
    warn('slow sweep', slowSweep, `${long}: raise that or poll.max_requests_per_minute`)
  }
  // During the first polls of a new target, the order of its list is not verified yet. That is normal.
  for (const { kind, message } of listWarnings(sync, sync.lastSuccess ?? sync.created))
    if (kind !== 'order_unverified') warn(kind, { kind }, message)
  return warnings
}

/** Logs whether the target went up or down with this poll. Other polls are logged at level debug. */
function logPoll(log: Logger, changes: ChangeLog, { target, report, before }: Polled): void {
  const { outcome, requests, problem = '', successful } = report
  const fields = { outcome, requests: requests.length, seconds: Math.round(report.seconds * 1000) / 1000 }
  const line = `poll ${outcome}${problem && `: ${problem}`}`
  if (report.fault === 'service' && before.failed === undefined) {
    changes.add({ level: 'warn', target, fields, line, together: 'more targets cannot be polled', cause: problem })
  } else if (successful && (before.failed !== undefined || (!before.successful && before.fault !== 'store'))) {
    const { polls, seconds } = before.failed ?? { polls: 0, seconds: 0 }
    const failed = `${formatNumber(polls)} ${polls === 1 ? 'poll' : 'polls'} failed`
    const after = polls === 0 ? '' : ` after ${formatSeconds(seconds)}; ${failed}`
    const up = `poll ${outcome}: the target is up${after}`
    changes.add({ level: 'info', target, fields, line: up, together: 'more targets are up' })
  } else log.debug({ target, ...fields }, line)
}
