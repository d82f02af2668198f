import type { Logger } from 'pino'
import { listWarnings } from '../../ledger/list-warnings.ts'
import { formatNumber, formatSeconds } from '../../text/format.ts'
import type { ChangeLog } from './change-log.ts'
import type { DaemonEvent } from '../daemon-event.ts'

type Polled = Extract<DaemonEvent, { kind: 'polled' }>
type Looked = Extract<DaemonEvent, { kind: 'looked' }>

/**
 * Logs polls and looks: a problem with a target's list once while it lasts, when a target goes up or down, and when Get Call
 * begins or ceases to fail.
 */
export function pollLog(log: Logger, changes: ChangeLog) {
  const warned = new Map<string, readonly string[]>()
  const noteGetCalls = getCallLog(changes)
  const polled = (event: Polled) => {
    const { target } = event
    const warnings = warningsOf(event)
    for (const { kind, fields, message } of warnings)
      if (warned.get(target)?.includes(kind) !== true) log.warn({ target, ...fields }, message)
    warned.set(
      target,
      warnings.map(({ kind }) => kind),
    )
    logPoll(log, changes, event, noteGetCalls(target, event.report))
  }
  const looked = ({ target, made, problem }: Looked) => void noteGetCalls(target, { requests: made, problem })
  return { polled, looked }
}

/** The codes of an answered Get Call: with the call, and without such a call. */
const ANSWERED = ['200', '404']

type GetCalls = { requests: Looked['made']; problem?: string | undefined }

/** Logs when all requests of single calls begin to fail, and when they no longer do. Returns whether they fail. */
function getCallLog(changes: ChangeLog) {
  const failing = new Set<string>()
  return (target: string, { requests, problem = '' }: GetCalls): boolean => {
    const codes = requests.flatMap(({ operation, code }) => (operation === 'get_call' ? [code] : []))
    const isFailing = !codes.some((code) => ANSWERED.includes(code))
    if (codes.length === 0 || isFailing === failing.has(target)) return failing.has(target)
    failing[isFailing ? 'add' : 'delete'](target)
    const change = isFailing
      ? ({
          level: 'warn',
          line: `Get Call fails: ${problem}`,
          together: 'more targets have no answers to Get Call',
        } as const)
      : ({ level: 'info', line: 'Get Call succeeds again', together: 'more targets have answers to Get Call' } as const)
    changes.add({ ...change, target, fields: {}, ...(isFailing && { cause: problem }) })
    return isFailing
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

function isNew({ successful }: Polled['report'], before: Polled['before'], isLogged: boolean): boolean {
  return successful ? !isLogged && before.fault !== 'service' : before.failed === undefined
}

/**
 * Logs whether the target went up or down with this poll, and a new problem of a successful one that has no line of its own.
 * Other polls are logged at level debug.
 */
function logPoll(log: Logger, changes: ChangeLog, { target, report, before }: Polled, isLogged: boolean): void {
  const { outcome, requests, problem = '', successful } = report
  const fields = { outcome, requests: requests.length, seconds: Math.round(report.seconds * 1000) / 1000 }
  const line = `poll ${outcome}${problem && `: ${problem}`}`
  if (report.fault === 'service' && isNew(report, before, isLogged)) {
    changes.add({ level: 'warn', target, fields, line, together: 'more targets cannot be polled', cause: problem })
  } else if (successful && (before.failed !== undefined || (!before.successful && before.fault !== 'store'))) {
    const { polls, seconds } = before.failed ?? { polls: 0, seconds: 0 }
    const failed = `${formatNumber(polls)} ${polls === 1 ? 'poll' : 'polls'} failed`
    const after = polls === 0 ? '' : ` after ${formatSeconds(seconds)}; ${failed}`
    const up = `poll ${outcome}: the target is up${after}`
    changes.add({ level: 'info', target, fields, line: up, together: 'more targets are up' })
  } else log.debug({ target, ...fields }, line)
}
