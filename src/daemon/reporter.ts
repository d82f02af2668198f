import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { OperationalMetrics } from '../metrics/operational-metrics.ts'
import {
  removeReceiver,
  removeTarget,
  initReceiver,
  initTarget,
  initWebhook,
  removeWebhook,
  recordCommit,
  recordPoll,
  recordInternalError,
  recordSkipped,
} from '../metrics/record.ts'
import type { SyncState } from '../ledger/state.ts'
import { formatProblem } from '../config/config-error.ts'
import { leftOutWarnings } from '../config/shipped-rules.ts'
import { listWarnings } from '../ledger/list-warnings.ts'
import type { Committed } from '../pipeline/commit.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Mask } from '../log/mask-secrets.ts'
import type { WebhookEvent } from '../events/webhooks/webhook-event.ts'
import { deliveryReport } from './delivery-report.ts'
import { afterText, ongoingProblems } from './ongoing-problems.ts'
import { alertLog } from './log-alerts.ts'
import { pollOutages } from './poll-outages.ts'
import type { Reload } from './reload.ts'
import { formatNumber, formatSeconds, formatSync, formatTime } from '../text/format.ts'

export type ReporterOptions = {
  log: Logger
  metrics: OperationalMetrics
  clock: Pick<Clock, 'wall' | 'monotonic'>
  targets: Pick<Targets, 'owned'>
  /** Seconds between two polls of a target. */
  interval: () => number
  /** The names of the receivers that are configured at the moment. */
  receivers?: () => readonly string[]
  /** The names of the webhooks of events that are configured at the moment. */
  webhooks?: () => readonly string[]
  /** Takes secrets out of a text. */
  mask: Mask
}

type Polled = Extract<DaemonEvent, { kind: 'polled' }>

const OWNERSHIP_LINES = {
  acquired: 'acquired: this daemon polls them',
  released: 'released: other daemons may poll them',
  lost: 'lost: other daemons may poll them',
}
/** The names that a log line has at most. */
const MAX_NAMES = 20

/** All targets have one store. */
const STORE = 'store'

/**
 * Reports what happened to metrics and log, after it was committed. The log is an audit trail: it has each change of state
 * once, and of what lasts a line each quarter of an hour.
 */
export function reporter(options: ReporterOptions): (event: DaemonEvent) => void {
  const {
    log,
    metrics,
    clock,
    targets,
    interval,
    receivers: configured = () => [],
    webhooks = () => [],
    mask,
  } = options
  /** Whose series there are: of each target with the codes that its requests have come to. */
  const introduced = {
    targets: new Map<string, Set<string>>(),
    receivers: new Set<string>(),
    webhooks: new Set<string>(),
  }

  const outages = pollOutages({ log, clock, owned: targets.owned, interval })
  const alerts = alertLog({ log, clock, interval })
  const storeProblems = ongoingProblems(clock)
  const deliveries = deliveryReport(options)

  /** The last one that was logged, until a target is polled. */
  let loadProblem: string | undefined
  const warned = new Map<string, ReadonlySet<string>>()

  function introduceOne(target: string): void {
    if (introduced.targets.has(target)) return
    initTarget(metrics, target)
    introduced.targets.set(target, new Set())
  }

  function forget(target: string): void {
    outages.forget(target)
    const codes = introduced.targets.get(target)
    if (codes !== undefined) removeTarget(metrics, target, codes)
    introduced.targets.delete(target)
  }

  /** Adds the series of targets and receivers that are there now, and removes those of others. */
  function introduce(): void {
    const receivers = new Set(configured())
    const own = new Set(targets.owned())
    for (const target of own) introduceOne(target)
    for (const target of introduced.targets.keys()) if (!own.has(target)) forget(target)
    for (const name of receivers) if (!introduced.receivers.has(name)) initReceiver(metrics, name)
    for (const name of introduced.receivers.difference(receivers)) removeReceiver(metrics, name)
    introduced.receivers = receivers
    const hooks = new Set(webhooks())
    for (const name of hooks) if (!introduced.webhooks.has(name)) initWebhook(metrics, name)
    for (const name of introduced.webhooks.difference(hooks)) removeWebhook(metrics, name)
    introduced.webhooks = hooks
  }
  introduce()

  /** The series of a target are those of the daemon that owns it. */
  function reportOwnership(event: OwnershipEvent): void {
    if (event.kind === 'problem') {
      const { of, problem } = event
      if (of === 'store') metrics.storeWritable.set(problem === undefined ? 1 : 0)
      else if (problem === undefined) log.info('this daemon is a member of the cluster again')
      else log.warn(`this daemon cannot join the cluster: ${mask(problem)}`)
      return
    }
    if (event.kind === 'lease lost') {
      metrics.leaseLost.inc()
      log.warn('the lease of the shared store expired before it was renewed: every target was lost')
      return
    }
    const { kind, targets } = event
    for (const target of targets) {
      if (kind === 'acquired') introduceOne(target)
      else forget(target)
    }
    const of = targets.length === 1 ? '1 target was' : `${targets.length} targets were`
    log.info({ targets: targets.slice(0, MAX_NAMES) }, `${of} ${OWNERSHIP_LINES[kind]}`)
  }

  function logTransitions({ target, ledger }: Committed): void {
    if (!log.isLevelEnabled('debug')) return
    for (const { call, from, to, observed } of ledger.transitions) {
      log.debug({ target, session: call.id, from, to, observed }, 'transition')
    }
  }

  /** Each once, for as long as it holds. */
  function reportWarnings(target: string, sync: SyncState): void {
    const warnings = listWarnings(sync, sync.lastSuccess ?? sync.created)
    const before = warned.get(target) ?? new Set()
    for (const { kind, message } of warnings) {
      // Of a new target that is what the first polls are for.
      if (before.has(kind) || kind === 'order_unverified') continue
      log.warn({ target, kind }, message)
    }
    warned.set(target, new Set(warnings.map(({ kind }) => kind)))
  }

  function reportPoll({ target, report, before, sync }: Polled): void {
    const { outcome, requests, problem, refusedFrom, slowSweep, storeFailed } = report
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
    reportWarnings(target, sync)
    const seconds = Math.round(report.seconds * 1000) / 1000
    const figures = { target, outcome, requests: requests.length, seconds }
    // An initial sync that is only long is logged page by page, and a problem of the store is logged once for all targets.
    const isInitialSync = report.isSweeping === true && sync.lastSuccess === undefined
    if (storeFailed) storeProblems.again(STORE)
    if (problem !== undefined) {
      log.debug(figures, `poll ${outcome}: ${problem}`)
      if (isInitialSync || storeFailed) outages.ended(target)
      else outages.failed({ ...figures, problem })
    } else if (outages.succeeded(figures)) log.debug(figures, `poll ${outcome}`)
    else if (!before.up && !before.storeFailed) log.info(figures, `poll ${outcome}: the target is up`)
    else log.debug(figures, `poll ${outcome}`)
  }

  /** What has failed for a quarter of an hour, and was not logged meanwhile. */
  function reportLasting(): void {
    outages.tick()
    alerts.tick()
    deliveries.tick()
    for (const { since, seconds, failures, problem } of storeProblems.due()) {
      const lasted = `since ${formatTime(since)} (${formatSeconds(seconds)})`
      log.warn(
        { failed: failures },
        `nothing has been counted ${lasted}, and ${formatNumber(failures)} polls failed, because of the store: ${mask(problem)}`,
      )
    }
  }

  function reportStore(problem: string | undefined): void {
    if (problem !== undefined) {
      storeProblems.begin(STORE, problem)
      log.warn(`nothing is counted until the store can be used: ${mask(problem)}`)
      return
    }
    const amount = storeProblems.ended(STORE)
    log.info(`the store can be used again${amount === undefined ? '' : afterText(amount, 'poll')}`)
  }

  function reportInternalError(target: string, error: unknown, seconds: number): void {
    if (introduced.targets.has(target)) recordInternalError(metrics, target)
    log.error(
      { target, stack: mask(inspect(error)) },
      `internal error, a bug in callwatch: the target is polled again in ${seconds} s; please report it with its stack`,
    )
  }

  function reportReload({ config, problems, changed }: Reload): void {
    metrics.reloadSuccessful.set(problems.length === 0 ? 1 : 0)
    introduce()
    if (problems.length > 0) {
      const all = problems.map(formatProblem)
      log.error({ problems: all }, `the configuration was refused, and the old one stays active: ${all.join('; ')}`)
    } else if (changed.length > 0) {
      log.info({ changed }, `the configuration was reloaded; changed: ${changed.join(', ')}`)
      for (const warning of leftOutWarnings(config)) log.warn(warning)
    } else log.info('the configuration was reloaded: nothing has changed')
  }

  return (event) => {
    switch (event.kind) {
      case 'committed':
        if (introduced.targets.has(event.committed.target)) recordCommit(metrics, event.committed)
        logTransitions(event.committed)
        alerts.changed(event.committed.target, event.committed.alerts)
        return
      case 'polled': {
        loadProblem = undefined
        const { target, report } = event
        // A poll may end just after its target was acquired by another daemon, which has its series by now.
        const codes = introduced.targets.get(target)
        if (codes !== undefined) recordPoll(metrics, target, report)
        for (const { code } of report.requests) codes?.add(code)
        reportPoll(event)
        return
      }
      case 'skipped':
        if (introduced.targets.has(event.target)) recordSkipped(metrics, event.target)
        return
      case 'progress': {
        const { target, progress } = event
        log.info({ target, ...progress }, formatSync(progress))
        return
      }
      case 'not loaded':
        // The store is the same for all of them.
        if (event.problem !== loadProblem) log.warn(`targets cannot be loaded from the store: ${event.problem}`)
        loadProblem = event.problem
        return
      case 'overview failed':
        log.error(
          { target: event.target, stack: mask(inspect(event.error)) },
          'internal error, a bug in callwatch: the overview of the target was not written; please report it with its stack',
        )
        return
      case 'internal error':
        reportInternalError(event.target, event.error, event.seconds)
        return
      case 'removed': {
        const { target } = event
        forget(target)
        alerts.notified(event.notifications)
        log.info({ target }, 'the target was removed')
        return
      }
      case 'store':
        reportStore(event.problem)
        return
      case 'time':
        reportLasting()
        return
      case 'stopped':
        alerts.flush()
        return
      case 'ownership':
        reportOwnership(event.event)
        return
      case 'reload':
        reportReload(event.reload)
        return
      case 'delivery':
        deliveries.report(event.delivery)
        return
      case 'heartbeat':
        deliveries.reportHeartbeat(event.heartbeat)
        return
      case 'webhook':
        reportWebhook(event.event)
    }
  }

  function reportWebhook(event: WebhookEvent): void {
    const { webhook } = event
    switch (event.kind) {
      case 'events': {
        const { outcome, n, problem = '' } = event
        if (introduced.webhooks.has(webhook)) metrics.webhookDeliveries.inc({ webhook, outcome }, n)
        if (outcome === 'dead') log.warn({ webhook }, `an event is a dead letter: ${mask(problem)}`)
        if (outcome === 'expired') {
          log.warn({ webhook, events: n }, `${n} events expired (events.retention) before they were delivered`)
        }
        return
      }
      case 'failing':
        log.warn({ webhook }, `events are not accepted, and are sent again: ${mask(event.problem)}`)
        return
      case 'recovered':
        log.info({ webhook }, 'no event fails any more')
        return
      case 'paused':
        log.warn({ webhook }, `${mask(event.problem)}: paused until \`callwatch events webhooks resume ${webhook}\``)
        return
      case 'gap':
        if (introduced.webhooks.has(webhook)) metrics.webhookDeliveries.inc({ webhook, outcome: 'gap' })
        log.warn({ webhook }, 'the log does not go on where the webhook was: events may not have been delivered')
    }
  }
}
