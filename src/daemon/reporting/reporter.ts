import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../../clock/clock.ts'
import type { OwnershipEvent } from '../../cluster/shared-ownership.ts'
import type { Config } from '../../config/config.ts'
import { formatProblem } from '../../config/config-error.ts'
import { configWarnings } from '../../config/warnings.ts'
import { sessionOf } from '../../ledger/identity.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { ownedSeries, type OwnedSeries } from '../../metrics/series.ts'
import { recordCommit, recordPoll, recordRequests } from '../../metrics/record.ts'
import type { Targets } from '../../pipeline/lifecycle.ts'
import type { RequestRecord } from '../../polling/request-with-retries.ts'
import { formatSeconds, formatSync } from '../../text/format.ts'
import type { ActiveReceivers } from '../active-receivers.ts'
import type { DaemonEvent } from '../daemon-event.ts'
import type { DaemonParts } from '../parts.ts'
import type { Reload } from '../daemon-event.ts'
import { changeLog, MAX_NAMES, type ChangeLog } from './change-log.ts'
import { pollLog } from './log-polls.ts'
import { logAlerts, logNotified } from './log-alerts.ts'
import { deliveryLog, reportWebhook } from './delivery-report.ts'

type ReporterOptions = Pick<DaemonParts, 'log' | 'mask'> & {
  metrics: Pick<Metrics, 'operational'>
  clock: Pick<Clock, 'monotonic'>
  targets: Pick<Targets, 'owned'>
  /** The configured receivers and webhooks of events. */
  receivers?: Pick<ActiveReceivers, 'all'>
  config?: () => Pick<Config, 'events'>
}

type Reports = { [Kind in DaemonEvent['kind']]: (event: Extract<DaemonEvent, { kind: Kind }>) => void }
type Context = ReporterOptions & { series: OwnedSeries; changes: ChangeLog }

const OWNERSHIP_LINES = {
  acquired: 'acquired: this daemon polls them',
  released: 'released: other daemons may poll them',
  lost: 'lost: other daemons may poll them',
}

/**
 * Reports committed events to metrics and log. The log is an audit trail, with each change of state once. Ongoing states are
 * in the metrics and on the page.
 */
export function reporter(options: ReporterOptions): (event: DaemonEvent) => void {
  const { log, targets, receivers, config, mask } = options
  const metrics = options.metrics.operational
  const changes = changeLog(log)
  const logDelivery = deliveryLog(options)
  const series = ownedSeries(metrics, () => ({
    target: targets.owned(),
    receiver: (receivers?.all() ?? []).map(({ name }) => name),
    webhook: (config?.().events.webhooks ?? []).map(({ name }) => name),
  }))
  const context = { ...options, series, changes }
  const reports: Reports = {
    ...targetReports(context),
    store: storeReport(options),
    ownership: ({ event }) => reportOwnership(context, event),
    reload: ({ reload }) => {
      metrics.reloadSuccessful.set(reload.problems.length + reload.kept.length === 0 ? 1 : 0)
      series.update()
      logReload(log, reload)
    },
    delivery: ({ delivery }) => {
      const { receiver, outcome } = delivery
      if (series.has('receiver', receiver)) metrics.notifications.inc({ receiver, outcome })
      logDelivery(delivery)
    },
    webhook: ({ event }) => reportWebhook({ log, metrics, mask }, event, series.has('webhook', event.webhook)),
    time: changes.flush,
    stopped: changes.flush,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot tell which report belongs to which kind
  return (event) => (reports[event.kind] as (one: DaemonEvent) => void)(event)
}

/** A target has series only while this daemon owns it, but one of its polls may end after another daemon acquired it. */
function targetReports({ log, metrics: { operational: metrics }, clock, mask, series, changes }: Context) {
  const logPoll = pollLog(log, changes, clock)
  const hasSeries = (target: string) => series.has('target', target)
  const requested = ({ target, requests }: { target: string; requests: readonly RequestRecord[] }) => {
    if (hasSeries(target)) recordRequests(metrics, target, requests)
    for (const { code } of requests) series.seen('target', target, code)
  }
  /** The last logged problem, until a target is polled. */
  let loadProblem: string | undefined

  function logBug(target: string, error: unknown, what: string): void {
    const line = `internal error, a bug in callwatch: ${what}; please report it with its stack`
    log.error({ target, stack: mask(inspect(error)) }, line)
  }

  return {
    committed: ({ committed }) => {
      const { target, ledger, alerts } = committed
      if (hasSeries(target)) recordCommit(metrics, committed)
      if (log.isLevelEnabled('debug')) {
        for (const { call, from, to, observed } of ledger.transitions)
          log.debug({ target, call: call.id, session: sessionOf(call), from, to, observed }, 'transition')
      }
      logAlerts(changes, target, alerts)
    },
    polled: (event) => {
      loadProblem = undefined
      const { target, report } = event
      if (hasSeries(target)) recordPoll(metrics, target, report)
      for (const { code } of report.requests) series.seen('target', target, code)
      logPoll.polled(event)
    },
    hinted: (event) => {
      requested(event)
      logPoll.hinted(event)
    },
    searched: requested,
    skipped: ({ target }) => {
      if (hasSeries(target)) metrics.polls.inc({ target, outcome: 'skipped' })
    },
    progress: ({ target, progress }) => log.info({ target, ...progress }, formatSync(progress)),
    'not loaded': ({ problem }) => {
      // All targets use the same store, so its problem is logged once.
      if (problem !== loadProblem) log.warn(`targets cannot be loaded from the store: ${problem}`)
      loadProblem = problem
    },
    'overview failed': ({ target, error }) => logBug(target, error, 'the overview of the target was not written'),
    'internal error': ({ target, error, seconds }) => {
      if (hasSeries(target)) {
        metrics.up.set({ target }, 0)
        metrics.internalErrors.inc({ target })
      }
      logBug(target, error, `the target is polled again in ${seconds} s`)
    },
    removed: ({ target, notifications }) => {
      series.end('target', target)
      logNotified(changes, notifications)
      log.info({ target }, 'the target was removed')
    },
  } satisfies Partial<Reports>
}

function storeReport({ log, clock, mask }: ReporterOptions): Reports['store'] {
  let failedAt = 0
  return ({ problem }) => {
    if (problem === undefined) {
      log.info(`the store can be used again, after ${formatSeconds(clock.monotonic() - failedAt)}`)
      return
    }
    failedAt = clock.monotonic()
    log.warn(`nothing is counted until the store can be used: ${mask(problem)}`)
  }
}

/** Only the daemon that owns a target has its series. */
function reportOwnership(
  { log, metrics: { operational: metrics }, mask, series }: Context,
  event: OwnershipEvent,
): void {
  if (event.kind === 'problem') {
    const { of, problem } = event
    if (of === 'store') metrics.storeWritable.set(problem === undefined ? 1 : 0)
    else if (problem === undefined) log.info('this daemon is a member of the cluster again')
    else log.warn(`this daemon cannot join the cluster: ${mask(problem)}`)
  } else if (event.kind === 'lease lost') {
    metrics.leaseLost.inc()
    log.warn('the lease of the shared store expired before it was renewed: every target was lost')
  } else {
    const { kind, targets: names } = event
    for (const name of names) series[kind === 'acquired' ? 'begin' : 'end']('target', name)
    const of = names.length === 1 ? '1 target was' : `${names.length} targets were`
    log.info({ targets: names.slice(0, MAX_NAMES) }, `${of} ${OWNERSHIP_LINES[kind]}`)
  }
}

function logReload(log: Logger, { config, problems, kept, changed }: Reload): void {
  if (problems.length > 0) {
    const all = problems.map(formatProblem)
    log.error({ problems: all }, `the configuration was refused, and the old one stays active: ${all.join('; ')}`)
  } else if (changed.length > 0) {
    log.info({ changed }, `the configuration was reloaded; changed: ${changed.join(', ')}`)
    for (const warning of configWarnings(config)) log.warn(warning)
  } else if (kept.length === 0) log.info('the configuration was reloaded: nothing has changed')
  if (kept.length > 0 && problems.length === 0) {
    const paths = kept.map(({ path }) => path)
    log.error(
      { kept: paths },
      `the configuration was reloaded, but for what needs a restart and stays as it was: ${paths.join(', ')}`,
    )
  }
}
