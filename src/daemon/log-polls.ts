import type { Logger } from 'pino'
import { listWarnings } from '../ledger/list-warnings.ts'
import { isServiceFailure } from '../pipeline/health.ts'
import { formatNumber, formatSeconds } from '../text/format.ts'
import type { ChangeLog } from './change-log.ts'
import type { DaemonEvent } from './daemon-event.ts'

type Polled = Extract<DaemonEvent, { kind: 'polled' }>

/** Logs what is wrong with the list of each target, each once for as long as it holds. */
export function listLog(log: Logger): (event: Polled) => void {
  const warned = new Map<string, ReadonlySet<string>>()
  return ({ target, report, before, sync }) => {
    const { refusedFrom, slowSweep } = report
    if (refusedFrom !== undefined && refusedFrom !== before.refusedFrom) {
      log.warn({ target, page: refusedFrom }, `the service refuses page ${refusedFrom} of its list and what follows`)
    }
    if (slowSweep !== undefined && before.slowSweep === undefined) {
      const { pages, seconds } = slowSweep
      log.warn(
        { target, pages, seconds },
        `the whole list (${pages} pages) takes ${seconds} s to read, longer than poll.sweep_interval: ` +
          'raise that or poll.max_requests_per_minute',
      )
    }
    const warnings = listWarnings(sync, sync.lastSuccess ?? sync.created)
    const known = warned.get(target) ?? new Set()
    for (const { kind, message } of warnings) {
      // Of a new target that is what the first polls are for.
      if (!known.has(kind) && kind !== 'order_unverified') log.warn({ target, kind }, message)
    }
    warned.set(target, new Set(warnings.map(({ kind }) => kind)))
  }
}

/** Logs a poll: since it the target is up or down, or it is for debugging alone. */
export function logPoll(log: Logger, changes: ChangeLog, { target, report, before }: Polled): void {
  const { outcome, requests, problem, successful } = report
  const fields = { outcome, requests: requests.length, seconds: Math.round(report.seconds * 1000) / 1000 }
  if (isServiceFailure(report) && before.failed === undefined) {
    const line = `poll ${outcome}: ${problem}`
    changes.add({
      level: 'warn',
      target,
      fields,
      line,
      together: 'more targets cannot be polled',
      cause: problem ?? '',
    })
  } else if (successful && (before.failed !== undefined || (!before.up && !before.storeFailed))) {
    const { polls, seconds } = before.failed ?? { polls: 0, seconds: 0 }
    const failed = `${formatNumber(polls)} ${polls === 1 ? 'poll' : 'polls'} failed`
    const after = polls === 0 ? '' : ` after ${formatSeconds(seconds)}; ${failed}`
    const line = `poll ${outcome}: the target is up${after}`
    changes.add({ level: 'info', target, fields, line, together: 'more targets are up' })
  } else log.debug({ target, ...fields }, `poll ${outcome}${problem === undefined ? '' : `: ${problem}`}`)
}
