import type { Logger } from 'pino'
import type { OperationalMetrics } from '../metrics/operational-metrics.ts'
import { recordCommit, recordCycle, recordDelivery, recordSkipped } from '../metrics/record.ts'
import type { CycleReport } from '../polling/cycle.ts'
import type { Committed } from '../store/keep-target.ts'
import type { EventFeed } from '../web/event-feed.ts'
import { alertEvent, transitionEvent, type WatchedTarget } from '../web/views.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Mask } from './mask-secrets.ts'

export type ReporterOptions = {
  log: Logger
  metrics: OperationalMetrics
  feed: EventFeed
  targets: readonly WatchedTarget[]
  /** Health is shown to whoever asks, and a service may repeat the key in what it says. */
  mask: Mask
}

/** Tells metrics, live feed and log what happened, after it was committed. One line a failing cycle, not one a retry. */
export function reporter({ log, metrics, feed, targets, mask }: ReporterOptions): (event: DaemonEvent) => void {
  const healthOf = new Map(targets.map(({ target, health }) => [target, health]))

  function publish({ target, ledger, alerts }: Committed): void {
    const isLogged = log.isLevelEnabled('debug')
    for (const transition of ledger.transitions) {
      feed.publish('transition', () => transitionEvent(target, transition))
      const { call, from, to, observed } = transition
      if (isLogged) log.debug({ target, session: call.id, from, to, observed }, 'transition')
    }
    for (const notification of alerts.notifications) feed.publish('alert', () => alertEvent(notification))
  }

  function noteCycle(target: string, report: CycleReport): void {
    const { outcome, requests, refusedFrom, slowSweep } = report
    const problem = report.problem === undefined ? undefined : mask(report.problem)
    const health = healthOf.get(target)!
    const wasUp = health.up()
    if (refusedFrom !== undefined && refusedFrom !== health.refusedFrom()) {
      log.warn({ target, page: refusedFrom }, `the service refuses page ${refusedFrom} of its list and what follows`)
    }
    if (slowSweep !== undefined && health.slowSweep() === undefined) {
      const { pages, seconds } = slowSweep
      log.warn(
        { target, pages, seconds },
        `the whole list (${pages} pages) takes ${seconds} s to read, longer than poll.sweep_interval: ` +
          'raise that or poll.max_requests_per_minute',
      )
    }
    health.note({ ...report, problem, requests: requests.length })
    const seconds = Math.round(report.seconds * 1000) / 1000
    const facts = { target, outcome, requests: requests.length, seconds }
    if (problem !== undefined) log.warn(facts, `poll ${outcome}: ${problem}`)
    else if (!wasUp) log.info(facts, `poll ${outcome}: the target is up`)
    else log.debug(facts, `poll ${outcome}`)
  }

  return (happened) => {
    if (happened.kind === 'delivery') {
      const { notifier, outcome, problem = '' } = happened.delivery
      recordDelivery(metrics, happened.delivery)
      if (outcome !== 'sent') log.warn({ notifier }, `notification ${outcome}: ${mask(problem)}`)
      return
    }
    if (happened.kind === 'heartbeat') {
      const { outcome, problem = '' } = happened.beaten
      if (outcome === 'failed') log.warn(`the heartbeat failed: ${mask(problem)}`)
      return
    }
    const { target, event } = happened
    switch (event.kind) {
      case 'committed':
        recordCommit(metrics, event.committed)
        publish(event.committed)
        return
      case 'cycle':
        recordCycle(metrics, target, event.report)
        noteCycle(target, event.report)
        return
      case 'skipped':
        recordSkipped(metrics, target)
    }
  }
}
