import type { Clock } from '../../src/clock/clock.ts'
import { createLogger } from '../../src/log/logger.ts'
import { ALONE } from '../../src/cluster/ownership.ts'
import { reporter } from '../../src/daemon/reporting/reporter.ts'
import type { Config } from '../../src/config/config.ts'
import type { Metrics } from '../../src/metrics/registry.ts'
import { newListMemory } from '../../src/polling/list/list-state.ts'
import type { PollReport } from '../../src/polling/poll-report.ts'
import { newRateLimiter } from '../../src/polling/rate-limiter.ts'
import { undiciTransport } from '../../src/service/undici-transport.ts'
import type { Store } from '../../src/store/store.ts'
import { connect } from '../../src/pipeline/connection.ts'
import { runPoll } from '../../src/pipeline/pipeline.ts'
import { openTarget, type Target, type TargetSettings } from '../../src/pipeline/target.ts'

export type OpenedTargetOptions = {
  config: Config
  target: Config['targets'][number]
  store: Store
  clock: Clock
  metrics: Metrics
}

export type OpenedTarget = {
  target: Target
  /** One poll: what it asked for, by path, its report, and whether it read a part of the whole list. */
  poll: () => Promise<{ paths: string[]; report: PollReport; sweeping: boolean }>
  /** Makes the next poll read the whole list, as the very first one does. */
  forgetList: () => void
}

/** A store knows a target by its address, and the service of the benchmark has another port each time. */
export function withoutPort(settings: TargetSettings): TargetSettings {
  return { ...settings, target: { ...settings.target, baseUrl: 'http://127.0.0.1' } }
}

/**
 * A target as the daemon has it, what happens reported to metrics and log; but that each poll begins when it is
 * asked for.
 */
export async function openedTarget(options: OpenedTargetOptions): Promise<OpenedTarget> {
  const { config, store, clock, metrics } = options
  const { maxRequestsPerMinute } = config.poll
  const settings = { target: options.target, poll: config.poll, rules: config.alerts }
  const target = await openTarget({ settings: withoutPort(settings), store, clock })
  target.settings = settings
  const mask = (text: string) => text
  const log = createLogger({ level: config.log.level, mask, stream: process.stdout })
  let paths: string[] = []
  const client = connect(settings, () => target, {
    ownership: ALONE,
    clock,
    log,
    transportTo: (baseUrl, maxAnswerBytes) => {
      const send = undiciTransport(baseUrl, maxAnswerBytes)
      return (request) => {
        paths.push(request.path)
        return send(request)
      }
    },
  })
  target.rateLimiter = newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined })
  const targets = { owned: () => [target.name] }
  const report = reporter({ log, metrics, clock, targets, mask })
  const aborted = new AbortController().signal
  return {
    target,
    poll: async () => {
      paths = []
      for await (const event of runPoll({ target, client, random: Math.random, mask }, aborted)) {
        report(event)
        if (event.kind !== 'polled') continue
        const sweeping = target.memory.list.sweep.state !== 'idle' || event.report.outcome === 'complete'
        return { paths, report: event.report, sweeping }
      }
      throw new Error('a poll ended without a report')
    },
    forgetList: () => {
      target.memory.list = newListMemory({ list: undefined }, undefined)
    },
  }
}
