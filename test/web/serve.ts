import { onTestFinished } from 'vitest'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { StoreError } from '../../src/store/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Credentials } from '../../src/web/authentication.ts'
import { eventFeed, type EventFeed } from '../../src/web/event-feed.ts'
import { startWeb } from '../../src/web/server.ts'
import { targetHealth, type CycleHealth } from '../../src/web/target-health.ts'
import type { WatchedTarget } from '../../src/web/views.ts'
import type { WebEvent } from '../../src/web/web-event.ts'
import { handMadeTarget, LOOKED, NOW } from '../metrics/hand-made-target.ts'

type Watched = Parameters<typeof handMadeTarget>[0] & {
  lookAge?: number
  polledFor?: number
  problem?: string
} & Partial<CycleHealth>

/** A target that is polled every 15 s, and whose latest look was good unless something else is said. */
export function watchedTarget(made: Watched = {}): WatchedTarget {
  const { facts = LOOKED, lookAge = 5, problem, isReading = false, storeFailed = false, slowSweep } = made
  const { hasPage = problem === undefined || isReading, polledFor = 0 } = made
  let now = 0
  const health = targetHealth(() => now)
  const good = problem === undefined
  health.note({ good, problem, isReading, requests: 3, hasPage, storeFailed, ...(slowSweep && { slowSweep }) })
  now = polledFor
  return {
    ...handMadeTarget({ ...made, facts }),
    health,
    owner: () => undefined,
    isOwn: () => true,
    lookAge: () => lookAge,
    judgedAge: () => 0,
    lookback: 86_400,
    interval: 15,
    budget: { perMinute: 400, heldFor: () => 0 },
  }
}

export type Served = { url: string; feed: EventFeed; noted: readonly WebEvent[]; close: () => Promise<void> }

/**
 * The web server on a free port of loopback, over targets made by hand; closed after the test.
 *
 * @param away why the store cannot be used, if it cannot
 */
export async function serve(
  targets: WatchedTarget[],
  history: { target: string; call: TrackedCall }[] = [],
  auth?: Credentials,
  away?: string,
  requestTimeout?: number,
): Promise<Served> {
  const kept = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => kept.close())
  const feed = eventFeed(5)
  const noted: WebEvent[] = []
  const web = await startWeb({
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    targets,
    // As the store does it: newest first.
    store: {
      ...kept,
      silences: async (now) => {
        if (away !== undefined) throw new StoreError('unavailable', away)
        return kept.silences(now)
      },
      finishedCalls: async ({ since, limit, target: wanted, status, after }) =>
        history
          .toSorted((a, b) => b.call.finish!.at - a.call.finish!.at)
          .slice(after === undefined ? 0 : history.findIndex(({ call }) => call.id === after.id) + 1)
          .filter(({ call }) => call.finish !== undefined && call.finish.at >= since)
          .filter(({ target }) => wanted === undefined || target === wanted)
          .filter(({ call }) => status === undefined || call.finish?.status === status)
          .slice(0, limit),
    },
    feed,
    problem: () => away,
    expose: metricsOf(() => targets, '1.2.3').expose,
    wall: () => NOW,
    note: (event) => void noted.push(event),
    ...(auth && { auth }),
    ...(requestTimeout !== undefined && { requestTimeout }),
  })
  onTestFinished(web.close)
  return { url: `http://127.0.0.1:${web.port}`, feed, close: web.close, noted }
}
