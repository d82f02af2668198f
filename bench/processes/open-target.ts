import { lastValueFrom, NEVER, tap } from 'rxjs'
import type { Clock } from '../../src/clock/clock.ts'
import { createLogger } from '../../src/daemon/logger.ts'
import { reporter } from '../../src/daemon/reporter.ts'
import type { Config } from '../../src/config/config.ts'
import type { Metrics } from '../../src/metrics/registry.ts'
import { cycle$ } from '../../src/polling/cycle.ts'
import type { CycleReport } from '../../src/polling/cycle-report.ts'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { newWatchMemory } from '../../src/polling/watch-memory.ts'
import { rateBudget } from '../../src/polling/rate-budget.ts'
import { callsClient } from '../../src/service/calls-client.ts'
import { undiciTransport } from '../../src/service/undici-transport.ts'
import { keepTarget } from '../../src/store/keep-target.ts'
import type { Store } from '../../src/store/store.ts'
import { eventFeed } from '../../src/web/event-feed.ts'
import { targetHealth } from '../../src/web/target-health.ts'
import type { WatchedTarget } from '../../src/web/views.ts'

export type OpenTargetOptions = {
  config: Config
  target: Config['targets'][number]
  store: Store
  clock: Clock
  metrics: Metrics
}

export type OpenTarget = {
  watched: WatchedTarget
  /** One cycle: what it asked for, by path, its report, and whether it read a part of the whole list. */
  look: () => Promise<{ paths: string[]; report: CycleReport; sweeping: boolean }>
  /** Makes the next look read the whole list, as the very first one does. */
  forgetList: () => void
  close: () => Promise<void>
}

/**
 * A target as the daemon has it (`daemon/watch.ts`), what happens told to metrics, feed and log; but that each cycle
 * begins when it is asked for.
 */
export async function openTarget({ config, target, store, clock, metrics }: OpenTargetOptions): Promise<OpenTarget> {
  const { poll } = config
  const { interval, lookback, maxRequestsPerMinute, retries, timeout } = poll
  const identity = { name: target.name, fingerprint: '' }
  const keeper = await keepTarget({
    store,
    clock,
    identity,
    ledger: poll,
    rules: config.alerts,
    route: () => [],
    interval,
  })
  const transport = undiciTransport(target.baseUrl, poll.maxAnswerBytes)
  let paths: string[] = []
  const client = callsClient(
    (request) => {
      paths.push(request.path)
      return transport.send(request)
    },
    { ...target, ...poll, wall: clock.wall, known: (id) => keeper.ledger.calls.get(id) },
  )
  const budget = rateBudget({ clock, maxRequestsPerMinute, heldUntil: undefined, onHold: () => undefined })
  const attempt = { budget, timeout, retries, random: Math.random }
  const memory = newWatchMemory(keeper.ledger, clock)
  const shown = { perMinute: maxRequestsPerMinute, heldFor: budget.heldFor }
  const health = targetHealth(clock.monotonic)
  const watched = { ...keeper, health, owner: () => undefined, isOwn: () => true, lookback, interval, budget: shown }
  const mask = (text: string) => text
  const log = createLogger({ level: config.log.level, mask, stream: process.stdout })
  const report = reporter({ log, metrics: metrics.operational, feed: eventFeed(), targets: [watched], mask })
  return {
    watched,
    look: async () => {
      paths = []
      const { ledger: state, fold } = keeper
      const last = await lastValueFrom(
        cycle$({ clock, client, attempt, state, fold, memory, poll, abandon$: NEVER }).pipe(
          tap((event) => report({ kind: 'watch', target: target.name, event })),
        ),
      )
      if (last.kind !== 'cycle') throw new Error('a cycle ended without a report')
      const sweeping = memory.list.sweep !== undefined || last.report.outcome === 'complete'
      return { paths, report: last.report, sweeping }
    },
    forgetList: () => {
      memory.list = newListMemory({ list: undefined }, undefined)
    },
    close: transport.close,
  }
}
