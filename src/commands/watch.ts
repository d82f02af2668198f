import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { defer, EMPTY, fromEvent, lastValueFrom, of, retry, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Config, TargetConfig } from '../config/config.ts'
import { rateBudget, type RateBudget } from '../polling/rate-budget.ts'
import { watchTarget, type WatchEvent } from '../polling/watch-target.ts'
import { callsClient } from '../service/calls-client.ts'
import type { Transport } from '../service/transport.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { keepTarget, type Committed } from '../store/keep-target.ts'
import type { Store } from '../store/store.ts'
import { targetHealth } from '../web/target-health.ts'
import type { WatchedTarget } from '../web/views.ts'

export type WatchOptions = {
  config: Config
  target: TargetConfig
  /** Seconds until the first cycle. */
  offset: number
  clock: Clock
  random: () => number
  log: Logger
  store: Store
  /** The rate budgets there are already, by address and key; a missing one is added. */
  budgets: Map<string, RateBudget>
  stop$: Observable<unknown>
  /** How the service is reached; by HTTP unless said otherwise. */
  transportTo?: (baseUrl: string) => { send: Transport; close: () => Promise<void> }
  /** Aborted when a cycle that is still running is to end. */
  abandon: AbortSignal
}

/** Opens one target: its own connections, its state in the store, and the stream of what happens to it. */
export async function watch(options: WatchOptions): Promise<{
  watched: WatchedTarget
  events$: Observable<WatchEvent<Committed>>
  close: () => Promise<void>
}> {
  const { config, target, offset, clock, random, log, store, stop$, abandon, transportTo = undiciTransport } = options
  const { poll } = config
  const keeper = await keepTarget({
    store,
    clock,
    identity: { name: target.name, fingerprint: fingerprintOf(target) },
    ledger: poll,
    rules: config.alerts,
    interval: poll.interval,
  })
  const budget = await budgetOf(options)
  const transport = transportTo(target.baseUrl)
  const client = callsClient(transport.send, {
    ...target,
    ...poll,
    wall: clock.wall,
    known: (id) => keeper.ledger.calls.get(id),
    onUnknown: onceEach((field, value) =>
      log.warn({ target: target.name, field, value }, 'a value that is not documented is counted as other'),
    ),
  })
  const events$ = watchTarget({
    clock,
    client,
    attempt: { budget, timeout: poll.timeout, retries: poll.retries, random },
    state: keeper.ledger,
    fold: keeper.fold,
    tick: keeper.tick,
    poll,
    offset,
    stop$,
    abandon$: defer(() => (abandon.aborted ? of(undefined) : fromEvent(abandon, 'abort'))),
  })
  const watched: WatchedTarget = {
    ...keeper,
    health: targetHealth(clock.monotonic),
    lookback: poll.lookback,
    interval: poll.interval,
  }
  return { watched, events$, close: transport.close }
}

/** What makes a target another one though its name is the same. */
export function fingerprintOf({ baseUrl, onBehalfOf = '', query }: TargetConfig): string {
  const sorted = Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return digest(JSON.stringify([baseUrl, onBehalfOf, sorted]))
}

/** What tells rate budgets apart. The store must not learn the key itself. */
export function budgetKey({ baseUrl, apiKey }: TargetConfig): string {
  return digest(`${baseUrl} ${apiKey}`)
}

async function budgetOf(options: WatchOptions): Promise<RateBudget> {
  const { target, budgets, config, store, clock } = options
  const key = budgetKey(target)
  const existing = budgets.get(key)
  if (existing !== undefined) return existing
  const budget = rateBudget({
    clock,
    maxRequestsPerMinute: config.poll.maxRequestsPerMinute,
    heldUntil: await store.heldUntil(key),
    onHold: (until) => void writeHold(options, key, until),
  })
  budgets.set(key, budget)
  return budget
}

/** Kept in memory meanwhile: a store that cannot be written now is tried again for as long as it matters. */
async function writeHold({ store, clock, stop$ }: WatchOptions, key: string, until: number): Promise<void> {
  const written$ = defer(() => store.hold(key, until)).pipe(
    retry({ delay: () => (clock.wall() < until ? timer(1000, clock.scheduler) : EMPTY) }),
    takeUntil(stop$),
  )
  await lastValueFrom(written$, { defaultValue: undefined })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** The most values that are told apart; a service gone mad must not fill the log. */
const MOST_VALUES = 100

/** Passes on each pair of values the first time that it comes. */
function onceEach(tell: (field: string, value: string) => void): (field: string, value: string) => void {
  const told = new Set<string>()
  return (field, value) => {
    const key = `${field}=${value}`
    if (told.has(key) || told.size >= MOST_VALUES) return
    told.add(key)
    tell(field, value.slice(0, 100))
  }
}
