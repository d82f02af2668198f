import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { OperationalMetrics } from '../metrics/operational-metrics.ts'
import {
  forgetNotifier,
  forgetTarget,
  introduceNotifier,
  introduceTarget,
  recordCommit,
  recordCycle,
  recordDelivery,
  recordInternalError,
  recordSkipped,
} from '../metrics/record.ts'
import type { Facts } from '../ledger/state.ts'
import type { CycleReport } from '../polling/cycle-report.ts'
import { listWarnings } from '../ledger/list-warnings.ts'
import type { Committed } from '../store/keep-target.ts'
import type { EventFeed } from '../web/event-feed.ts'
import { alertEvent, transitionEvent, type WatchedTarget } from '../web/views.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Mask } from './mask-secrets.ts'
import type { Reload } from './take-over.ts'

export type ReporterOptions = {
  log: Logger
  metrics: OperationalMetrics
  feed: EventFeed
  /** Those of the moment. */
  targets: readonly WatchedTarget[]
  /** The names of those who are told, at the moment; nobody's unless given. */
  notifiers?: () => readonly string[]
  /** Health is shown to whoever asks, and a service may repeat the key in what it says. */
  mask: Mask
}

const OWNERSHIP_LINES = {
  gained: 'the target is watched by this daemon from now on',
  left: 'the target was let go of, for another daemon to watch',
  lost: 'the target may be watched by another daemon from now on',
}

/** Tells metrics, live feed and log what happened, after it was committed. One line a failing cycle, not one a retry. */
export function reporter(options: ReporterOptions): (event: DaemonEvent) => void {
  const { log, metrics, feed, targets, notifiers: told = () => [], mask } = options
  /** Whose series there are: of each target with the codes that its requests have come to. */
  const introduced = { targets: new Map<string, Set<string>>(), notifiers: new Set<string>() }

  const warned = new Map<string, ReadonlySet<string>>()

  function introduceOne(target: string): void {
    if (introduced.targets.has(target)) return
    introduceTarget(metrics, target)
    introduced.targets.set(target, new Set())
  }

  function forget(target: string): void {
    const codes = introduced.targets.get(target)
    if (codes !== undefined) forgetTarget(metrics, target, codes)
    introduced.targets.delete(target)
  }

  /** Makes the series exist of whoever is there now, and those of the notifiers end that are not. */
  function introduce(): void {
    const notifiers = new Set(told())
    const own = new Set(targets.filter(({ isOwn }) => isOwn()).map(({ target }) => target))
    for (const target of own) introduceOne(target)
    for (const target of introduced.targets.keys()) if (!own.has(target)) forget(target)
    for (const name of notifiers) if (!introduced.notifiers.has(name)) introduceNotifier(metrics, name)
    for (const name of introduced.notifiers.difference(notifiers)) forgetNotifier(metrics, name)
    introduced.notifiers = notifiers
  }
  introduce()

  /** A target whose series come and go with the daemon that owns it. */
  function noteOwnership(event: OwnershipEvent): void {
    if (event.kind === 'trouble') {
      if (event.of === 'store') metrics.storeWritable.set(event.problem === undefined ? 1 : 0)
      if (event.problem === undefined) log.info('this daemon takes its part of the shared store again')
      else log.warn(`this daemon has no part of the shared store: ${mask(event.problem)}`)
      return
    }
    if (event.kind === 'lease lost') {
      metrics.leaseLost.inc()
      log.warn('the lease of the shared store ended before it was renewed: every target is let go of')
      return
    }
    const { kind, target } = event
    if (kind === 'gained') introduceOne(target)
    else forget(target)
    log.info({ target }, OWNERSHIP_LINES[kind])
  }

  function publish({ target, ledger, alerts }: Committed): void {
    const isLogged = log.isLevelEnabled('debug')
    for (const transition of ledger.transitions) {
      feed.publish('transition', () => transitionEvent(target, transition))
      const { call, from, to, observed } = transition
      if (isLogged) log.debug({ target, session: call.id, from, to, observed }, 'transition')
    }
    for (const notification of alerts.notifications) feed.publish('alert', () => alertEvent(notification))
  }

  /** Each once, for as long as it holds. */
  function noteWarnings(target: string, facts: Facts): void {
    const warnings = listWarnings(facts, facts.lastGood ?? facts.created)
    const before = warned.get(target) ?? new Set()
    for (const { kind, message } of warnings) {
      // Of a new target that is what the first polls are for.
      if (before.has(kind) || kind === 'order_unproven') continue
      log.warn({ target, kind }, message)
    }
    warned.set(target, new Set(warnings.map(({ kind }) => kind)))
  }

  function noteCycle(target: string, report: CycleReport): void {
    const { outcome, requests, refusedFrom, slowSweep } = report
    const problem = report.problem === undefined ? undefined : mask(report.problem)
    const watched = targets.find((one) => one.target === target)
    if (watched === undefined) return
    const { health, ledger } = watched
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
    const hasPage = requests.some(({ operation, code }) => operation === 'list_calls' && code === '200')
    noteWarnings(target, ledger.facts)
    health.note({ ...report, problem, requests: requests.length, hasPage })
    const seconds = Math.round(report.seconds * 1000) / 1000
    const facts = { target, outcome, requests: requests.length, seconds }
    // A first look that is only long is told of page by page.
    const isFirstLook = report.isReading === true && ledger.facts.lastGood === undefined
    if (isFirstLook) log.debug(facts, `poll ${outcome}: ${problem}`)
    else if (problem !== undefined) log.warn(facts, `poll ${outcome}: ${problem}`)
    else if (!wasUp) log.info(facts, `poll ${outcome}: the target is up`)
    else log.debug(facts, `poll ${outcome}`)
  }

  function noteInternalError(target: string, error: unknown, seconds: number): void {
    if (introduced.targets.has(target)) recordInternalError(metrics, target)
    const watched = targets.find((one) => one.target === target)
    watched?.health.note({ good: false, hasPage: false, problem: 'internal error', requests: 0, storeFailed: false })
    log.error(
      { target, stack: mask(inspect(error)) },
      `internal error, a mistake of callwatch itself: the target is not watched until it is tried again in ${seconds} s; please report it with its stack`,
    )
  }

  function noteReload({ problems, changed }: Reload): void {
    metrics.reloadSuccessful.set(problems.length === 0 ? 1 : 0)
    introduce()
    if (problems.length > 0) {
      const all = problems.map(({ path, message }) => `${path}: ${message}`)
      log.error({ problems: all }, `the configuration was refused, and the old one stays in force: ${all.join('; ')}`)
    } else if (changed.length > 0) {
      log.info({ changed }, `the configuration was read anew and is in force; changed: ${changed.join(', ')}`)
    } else log.info('the configuration was read anew; nothing has changed in it')
  }

  return (happened) => {
    if (happened.kind === 'reload') {
      noteReload(happened.reload)
      return
    }
    if (happened.kind === 'progress') {
      const { target, progress } = happened
      const { done, of = 'an unknown number of' } = progress
      log.info({ target, ...progress }, `the first look has read ${done} of ${of} pages`)
      return
    }
    if (happened.kind === 'internal error') {
      noteInternalError(happened.target, happened.error, happened.seconds)
      return
    }
    if (happened.kind === 'followed') {
      publish(happened.committed)
      return
    }
    if (happened.kind === 'ownership') {
      noteOwnership(happened.event)
      return
    }
    if (happened.kind === 'removed') {
      const { target, notifications } = happened
      forget(target)
      for (const notification of notifications) feed.publish('alert', () => alertEvent(notification))
      log.info({ target }, 'the target is watched no more')
      return
    }
    if (happened.kind === 'delivery') {
      const { notifier, outcome, problem = '', error } = happened.delivery
      recordDelivery(metrics, happened.delivery)
      if (error !== undefined) {
        const stack = mask(inspect(error))
        log.error(
          { notifier, stack },
          `notification ${outcome}: internal error, a mistake of callwatch itself; please report it with its stack`,
        )
      } else if (outcome !== 'sent') log.warn({ notifier }, `notification ${outcome}: ${mask(problem)}`)
      return
    }
    if (happened.kind === 'heartbeat') {
      const { outcome, problem = '' } = happened.beaten
      if (outcome === 'failed') log.warn(`the heartbeat failed: ${mask(problem)}`)
      return
    }
    const { target, event } = happened
    // A cycle may end just after its target has become another daemon's, whose series it is no part of.
    const codes = introduced.targets.get(target)
    switch (event.kind) {
      case 'committed':
        if (codes !== undefined) recordCommit(metrics, event.committed)
        publish(event.committed)
        return
      case 'cycle':
        if (codes !== undefined) recordCycle(metrics, target, event.report)
        for (const { code } of event.report.requests) codes?.add(code)
        noteCycle(target, event.report)
        return
      case 'skipped':
        if (codes !== undefined) recordSkipped(metrics, target)
    }
  }
}
