import type { Logger } from 'pino'
import { listWarnings } from '../../ledger/list-warnings.ts'
import { formatNumber, formatSeconds, plural } from '../../text/format.ts'
import type { Clock } from '../../clock/clock.ts'
import type { SingleCalls } from '../../polling/poll-report.ts'
import type { ChangeLog } from './change-log.ts'
import type { DaemonEvent } from '../daemon-event.ts'

type Polled = Extract<DaemonEvent, { kind: 'polled' }>
type Hinted = Extract<DaemonEvent, { kind: 'hinted' }>

/**
 * Logs polls and hinted requests: a problem with a target's list once while it lasts, when a target goes up or down, and when Get Call
 * begins or ceases to fail.
 */
export function pollLog(log: Logger, changes: ChangeLog, clock: Pick<Clock, 'monotonic'>) {
  const warned = new Map<string, readonly string[]>()
  const logSingleCalls = singleCallLog(changes, clock)
  const polled = (event: Polled) => {
    const { target } = event
    const warnings = warningsOf(event)
    for (const { kind, fields, message } of warnings)
      if (warned.get(target)?.includes(kind) !== true) log.warn({ target, ...fields }, message)
    warned.set(
      target,
      warnings.map(({ kind }) => kind),
    )
    logSingleCalls(target, event.report.singleCalls)
    logPoll(log, changes, event)
  }
  const hinted = ({ target, singleCalls }: Hinted) => logSingleCalls(target, singleCalls)
  return { polled, hinted }
}

/** Get Call succeeds again once it has not failed for so long (seconds). */
const SETTLED_SECONDS = 900

/**
 * Logs when no request of a single call is answered any more, and when they are again. What fails again and again is one ongoing
 * problem.
 */
function singleCallLog(changes: ChangeLog, { monotonic }: Pick<Clock, 'monotonic'>) {
  /** When each target last had this problem. */
  const failedAt = new Map<string, number>()
  return (target: string, singleCalls: SingleCalls | undefined): void => {
    if (singleCalls === undefined) return
    const { answered, problem = '' } = singleCalls
    const before = failedAt.get(target)
    const isFailing = answered === 0
    if (isFailing) failedAt.set(target, monotonic())
    const line = `Get Call fails: ${problem}`
    const together = 'more targets have no answers to Get Call'
    if (isFailing && before === undefined)
      changes.add({ level: 'warn', target, fields: {}, line, together, cause: problem })
    if (isFailing || before === undefined || monotonic() - before < SETTLED_SECONDS) return
    failedAt.delete(target)
    const again = { line: 'Get Call succeeds again', together: 'more targets have answers to Get Call again' }
    changes.add({ level: 'info', target, fields: {}, ...again })
  }
}

function warningsOf({ report: { refusedFrom: page, slowSweep }, sync }: Polled) {
  const warnings: { kind: string; fields: object; message: string }[] = []
  const warn = (kind: string, fields: object, message: string) => void warnings.push({ kind, fields, message })
  if (page !== undefined)
    warn(`refused ${page}`, { page }, `the service refuses page ${page} of its list and what follows`)
  if (slowSweep !== undefined) {
    const { pages, seconds, polls } = slowSweep
    const rare = `the whole list (${plural(pages, 'page')}) is read once in ${seconds} s, less often than poll.sweep_interval`
    const remedy = polls === 1 ? 'lower poll.interval' : 'poll.max_requests_per_minute'
    warn('slow sweep', slowSweep, `${rare}: raise that or ${remedy}`)
  }
  // During the first polls of a new target, the order of its list is not verified yet. That is normal.
  for (const { kind, message } of listWarnings(sync, sync.lastSuccess ?? sync.created))
    if (kind !== 'order_unverified') warn(kind, { kind }, message)
  return warnings
}

/** Whether a problem has no line yet. That of single calls has its own. */
function isNew({ successful, problem, singleCalls }: Polled['report'], before: Polled['before']): boolean {
  if (!successful) return before.failed === undefined
  return problem !== singleCalls?.problem && before.fault !== 'service'
}

/**
 * Logs whether the target went up or down with this poll, and a new problem of a successful one that has no line of its own.
 * Other polls are logged at level debug.
 */
function logPoll(log: Logger, changes: ChangeLog, { target, report, before }: Polled): void {
  const { outcome, requests, problem = '', successful } = report
  const fields = { outcome, requests: requests.length, seconds: Math.round(report.seconds * 1000) / 1000 }
  const line = `poll ${outcome}${problem && `: ${problem}`}`
  if (report.fault === 'service' && isNew(report, before)) {
    changes.add({ level: 'warn', target, fields, line, together: 'more targets cannot be polled', cause: problem })
  } else if (successful && (before.failed !== undefined || (!before.successful && before.fault !== 'store'))) {
    const { polls, seconds } = before.failed ?? { polls: 0, seconds: 0 }
    const failed = `${formatNumber(polls)} ${polls === 1 ? 'poll' : 'polls'} failed`
    const after = polls === 0 ? '' : ` after ${formatSeconds(seconds)}; ${failed}`
    const up = `poll ${outcome}: the target is up${after}`
    changes.add({ level: 'info', target, fields, line: up, together: 'more targets are up' })
  } else log.debug({ target, ...fields }, line)
}
