import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../clock/clock.ts'
import type { Ownership, Lease } from '../cluster/ownership.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import { newPollMemory } from '../polling/poll-memory.ts'
import type { RateLimiter } from '../polling/rate-limiter.ts'
import { connect, type ServiceConnection, type ConnectionOptions } from './connection.ts'
import type { RequestLimits } from './request-limits.ts'
import {
  beginPolling,
  oneAtATime,
  rateLimitKey,
  openTarget,
  reloadTarget,
  type OpenTargetOptions,
  type Target,
  type TargetSettings,
} from './target.ts'

/** A target of the configuration, and what it takes to run it. */
export type ManagedTarget = {
  readonly name: string
  /** Its state, loaded while this daemon owns it. */
  target: Target | undefined
  /** With which its state was loaded. */
  loaded: TargetSettings
  /** Those of the active configuration, with which it is shown. */
  wanted: TargetSettings
  connection: ServiceConnection | undefined
  rateLimitKey: string
  /** When its polls began, or are to begin (monotonic seconds): one is due each interval from then on. */
  startsAt: number
  /** The lease under which it was last polled. */
  lease: Lease | undefined
  isRunning: boolean
  /** Why its state cannot be loaded. */
  problem: string | undefined
  /** A bug has ended it: what it has in memory may be half of a change. */
  isBroken: boolean
  readonly runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}

/** @param offset seconds until its first poll */
export function newManagedTarget(settings: TargetSettings, clock: Clock, offset: number): ManagedTarget {
  return {
    name: settings.target.name,
    target: undefined,
    loaded: settings,
    wanted: settings,
    connection: undefined,
    rateLimitKey: rateLimitKey(settings.target),
    startsAt: clock.monotonic() + offset,
    lease: undefined,
    isRunning: false,
    problem: undefined,
    isBroken: false,
    runExclusive: oneAtATime(),
  }
}

export type LoadTargetOptions = Omit<OpenTargetOptions, 'settings'> & {
  ownership: Ownership
  /** What is loaded after that is not kept. */
  aborted?: AbortSignal
}

/**
 * Loads the state of a target from the store, again where it was loaded before.
 *
 * @throws {StoreError}
 */
export async function loadManagedTarget(
  managed: ManagedTarget,
  settings: TargetSettings,
  options: LoadTargetOptions,
): Promise<Target> {
  const target = managed.target ?? (await openTarget({ ...options, settings }))
  if (managed.target === undefined) target.owner = () => options.ownership.ownerOf(managed.name)
  else await reloadTarget(target, settings)
  // Its lease has ended meanwhile, or another one has begun, before which other daemons may have committed.
  options.aborted?.throwIfAborted()
  managed.loaded = settings
  target.settings = managed.wanted
  managed.target = target
  return target
}

/** Drops the state of a target that this daemon does not own any more. */
export function unloadManagedTarget(managed: ManagedTarget): void {
  void managed.connection?.close()
  Object.assign(managed, { target: undefined, connection: undefined, lease: undefined, problem: undefined })
}

export type PrepareOptions = Omit<ConnectionOptions, 'target' | 'mayAsk'> &
  LoadTargetOptions & {
    limits: RequestLimits
    /** From 0 to 1. */
    random: () => number
    settings: TargetSettings
    lease: Lease
    aborted: AbortSignal
  }

/** A target that is ready to be polled; `offset`, the seconds until its first poll. */
export type Prepared = { target: Target; connection: ServiceConnection; rateLimiter: RateLimiter; offset: number }

/**
 * Makes a target ready to be polled with these settings under this lease. Under the same lease it continues where it was; what was
 * read of its list stays read, unless the settings of the poll have changed.
 *
 * @throws {StoreError}
 */
export async function prepareManagedTarget(managed: ManagedTarget, options: PrepareOptions): Promise<Prepared> {
  const { clock, random, ownership, limits, settings, lease, aborted } = options
  aborted.throwIfAborted()
  const { loaded } = managed
  const isSamePoll = isDeepStrictEqual(loaded.poll, settings.poll)
  const isSame = isSamePoll && isDeepStrictEqual(loaded.rules, settings.rules)
  const isAlone = options.store.cluster === undefined
  const continues = managed.lease === lease || (isAlone && managed.lease === undefined)
  const due = continues ? dueIn(managed, clock) : undefined
  // Before this lease, another daemon may have committed.
  const target =
    managed.target === undefined || managed.isBroken || !isSame || !continues
      ? await loadManagedTarget(managed, settings, options)
      : managed.target
  aborted.throwIfAborted()
  const offset = managed.isBroken
    ? 0
    : Math.min(due ?? dueAfterFailover(target, loaded.poll, { random, ownership }), settings.poll.interval)
  // With another page size the pages that were read are others, and another daemon has moved on.
  if (managed.isBroken || !isSamePoll || !continues) target.memory = newPollMemory(target.ledger, clock)
  if (!continues) beginPolling(target)
  const rateLimiter = await limits.rateLimiterOf(settings)
  aborted.throwIfAborted()
  target.settings = settings
  target.rateLimiter = rateLimiter
  const { target: asked, poll, participants } = managed.connection?.settings ?? {}
  const connected = [asked, poll, participants]
  if (
    managed.connection === undefined ||
    !isDeepStrictEqual(connected, [settings.target, settings.poll, settings.participants])
  ) {
    void managed.connection?.close()
    managed.connection = connect({ ...options, target, mayAsk: () => ownership.owns(target.name) })
  }
  Object.assign(managed, {
    loaded: settings,
    rateLimitKey: rateLimitKey(settings.target),
    startsAt: clock.monotonic() + offset,
    lease,
    isBroken: false,
  })
  // The targets that still have the key of before may ask for more now.
  limits.resizeLimit(loaded)
  return { target, connection: managed.connection, rateLimiter, offset }
}

/** Seconds until a poll is due, as if the last run continued. */
function dueIn({ startsAt, loaded, lease }: ManagedTarget, clock: Clock): number {
  const late = clock.monotonic() - startsAt
  if (lease === undefined) return Math.max(0, -late)
  return late < 0 ? -late : Math.ceil(late / loaded.poll.interval) * loaded.poll.interval - late
}

/**
 * When the first poll is due after another daemon's last one (seconds). Where that is late, at once; but not of all
 * targets at once, and so that a target whose owner died is polled within the lease and two intervals, renewals included.
 */
function dueAfterFailover(
  target: Target,
  poll: PollConfig,
  { random, ownership }: Pick<PrepareOptions, 'random' | 'ownership'>,
): number {
  const left = poll.interval - target.pollAge()
  if (left > 0 && target.ledger.sync.lastSuccess !== undefined) return left
  return (random() * Math.max(0, poll.interval - 2 * ownership.renewalInterval)) / 2
}
