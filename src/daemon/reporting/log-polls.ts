import type { Logger } from 'pino'
import { listWarnings } from '../../ledger/list-warnings.ts'
import { formatNumber, formatSeconds } from '../../text/format.ts'
import type { ChangeLog } from './change-log.ts'
import type { DaemonEvent } from '../daemon-event.ts'

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
