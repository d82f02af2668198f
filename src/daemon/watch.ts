import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { defer, EMPTY, lastValueFrom, retry, takeUntil, timer, type Observable } from 'rxjs'
import type { Rule } from '../alerts/rule.ts'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { PollConfig, TargetConfig } from '../config/config.ts'
import { rateBudget, type AdjustableBudget, type RateBudget } from '../polling/rate-budget.ts'
import { newWatchMemory, type WatchMemory } from '../polling/watch-memory.ts'
import { progressOf, watchTarget, type WatchEvent } from '../polling/watch-target.ts'
import { callsClient } from '../service/calls-client.ts'
import type { Transport } from '../service/transport.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { keepTarget, type Committed, type Route, type TargetKeeper } from '../store/keep-target.ts'
import { StoreError, type Store } from '../store/store.ts'
import { ownOrNotedHealth, targetHealth } from '../web/target-health.ts'
import type { WatchedTarget } from '../web/views.ts'

/** What a watch goes by: one target of the configuration, and what holds for all of them. */
export type WatchPart = { target: TargetConfig; poll: PollConfig; rules: readonly Rule[] }

export type WatchOptions = {
  part: WatchPart
  /** Seconds until the first cycle. */
  offset: number
  /** The watch of the same target in whose place this one comes, and which has ended. */
  before?: Watch | undefined
  clock: Clock
  random: () => number
  log: Logger
  store: Store
  route: Route
  /** Whether the target may be asked about at the moment, and who says how it is doing. */
  ownership: Ownership
  /** The rate budgets there are already, by address and key; a missing one is added. */
  budgets: Map<string, AdjustableBudget>
  /** Emits when the daemon is to stop. */
  stop$: Observable<unknown>
  /** How the service is reached; by HTTP unless said otherwise. */
  transportTo?: (baseUrl: string, maxAnswerBytes: number) => { send: Transport; close: () => Promise<void> }
}

/** One target that is open. */
export type Watch = {
  part: WatchPart
  watched: WatchedTarget
  /**
   * What happens to it. Once only; completes when the last cycle has ended.
   *
   * @param over$ emits when no new cycle is to begin
   * @param abandon$ emits when one that is still running is to end
   */
  run: (over$: Observable<unknown>, abandon$: Observable<unknown>) => Observable<WatchEvent<Committed>>
  close: () => Promise<void>
  /** Tells apart what requests are counted together (`budgetKey`). */
  budgetKey: string
  keeper: TargetKeeper
  memory: WatchMemory
  /** Seconds until a cycle is due, as if this watch went on. */
  dueIn: () => number
}

/**
 * Opens one target: its own connections, its state in the store, and the stream of what happens to it. Where it follows
 * upon another watch, it goes on with all of that one which it can: its health, how far it has read the list, and with
 * the same rules what was loaded from the store.
 *
 * @throws {StoreError}
 */
export async function watch(options: WatchOptions): Promise<Watch> {
  const { part, before, offset, clock, random, log, store, route, ownership } = options
  const { transportTo = undiciTransport } = options
  const { target, poll, rules } = part
  const isPollSame = isDeepStrictEqual(before?.part.poll, poll)
  const areRulesSame = isDeepStrictEqual(before?.part.rules, rules)
  const keeper =
    before !== undefined && isPollSame && areRulesSame
      ? before.keeper
      : await keepTarget({
          store,
          clock,
          identity: { name: target.name, fingerprint: fingerprintOf(target) },
          ledger: poll,
          rules,
          route,
          interval: poll.interval,
        })
  // With another page size the pages that were read are others; with another lookback there are more of them.
  const memory = before !== undefined && isPollSame ? before.memory : newWatchMemory(keeper.ledger, clock)
  const budget = await budgetOf(options)
  const transport = transportTo(target.baseUrl, poll.maxAnswerBytes)
  const isOwn = () => ownership.owns(target.name)
  const client = callsClient(whileOwned(transport.send, isOwn), {
    ...target,
    ...poll,
    wall: clock.wall,
    clockSkew: () => keeper.ledger.facts.clockSkew,
    known: (id) => keeper.ledger.calls.get(id),
    onUnknown: onceEach((field, value) =>
      log.warn({ target: target.name, field, value }, 'a value that is not documented is counted as other'),
    ),
  })
  const watched: WatchedTarget = {
    ...keeper,
    health: before?.watched.health ?? ownOrNotedHealth(targetHealth(clock.monotonic), target.name, ownership),
    owner: () => ownership.ownerOf(target.name),
    isOwn,
    lookback: poll.lookback,
    interval: poll.interval,
    progress: () => progressOf(memory),
    budget: { perMinute: poll.maxRequestsPerMinute, heldFor: budget.heldFor },
  }
  const startsAt = clock.monotonic() + offset
  return {
    part,
    watched,
    run: (stop$, abandon$) =>
      watchTarget({
        clock,
        client,
        attempt: { budget, timeout: poll.timeout, retries: poll.retries, random },
        state: keeper.ledger,
        memory,
        fold: keeper.fold,
        tick: keeper.tick,
        poll,
        offset,
        stop$,
        abandon$,
      }),
    close: transport.close,
    budgetKey: budgetKey(target),
    keeper,
    memory,
    dueIn: () => {
      const late = clock.monotonic() - startsAt
      return late < 0 ? -late : Math.ceil(late / poll.interval) * poll.interval - late
    },
  }
}

/** A process that was halted for longer than its lease must not go on where it was. */
function whileOwned(send: Transport, isOwn: () => boolean): Transport {
  return (request) =>
    isOwn() ? send(request) : Promise.reject(new Error('the target may be watched elsewhere by now'))
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
  const { part, budgets, store, clock } = options
  const { maxRequestsPerMinute } = part.poll
  const key = budgetKey(part.target)
  const heldUntil = await store.heldUntil(key)
  const existing = budgets.get(key)
  // Where daemons share a store, each has a part of the limit (shared-limits.ts), and none before it watches anything.
  const own = store.sharing === undefined ? maxRequestsPerMinute : 0
  if (existing !== undefined) {
    if (store.sharing === undefined) existing.limitTo(own)
    return existing
  }
  const budget = rateBudget({
    clock,
    maxRequestsPerMinute: own,
    heldUntil,
    onHold: (until) => void writeHold(options, key, until),
  })
  budgets.set(key, budget)
  return budget
}

/** Kept in memory meanwhile: a store that cannot be written now is tried again for as long as it matters. */
async function writeHold({ store, clock, stop$ }: WatchOptions, key: string, until: number): Promise<void> {
  const written$ = defer(() => store.hold(key, until)).pipe(
    retry({
      delay: (error) => {
        if (!(error instanceof StoreError)) throw error
        return clock.wall() < until ? timer(1000, clock.scheduler) : EMPTY
      },
    }),
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
    const start = value.slice(0, 100)
    const key = `${field}=${start}`
    if (told.has(key) || told.size >= MOST_VALUES) return
    told.add(key)
    tell(field, start)
  }
}
