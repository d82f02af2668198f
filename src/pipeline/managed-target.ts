import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../clock/clock.ts'
import type { Lease, Ownership } from '../cluster/ownership.ts'
import { connect, type ConnectionOptions, type ServiceConnection } from './connection.ts'
import type { RequestLimits } from './request-limits.ts'
import { beginPolling, oneAtATime, openTarget, rateLimitKey } from './target.ts'
import type { OpenTargetOptions, Target, TargetSettings } from './target.ts'

/** A target of the configuration, and what this daemon needs to poll it. */
export type ManagedTarget = {
  readonly name: string
  /** Of the active configuration. */
  settings: TargetSettings
  readonly rateLimitKey: string
  /** Its state, loaded while this daemon owns it. */
  target: Target | undefined
  connection: ServiceConnection | undefined
  /** When its polls began, or are to begin (monotonic seconds): one is due each interval from then on. */
  startsAt: number
  /** The lease under which it was last polled. */
  lease: Lease | undefined
  /** Broken: a bug has ended it, and what it has in memory may be half of a change. */
  state: 'idle' | 'running' | 'broken'
  /** Why its state cannot be loaded. */
  problem: string | undefined
  readonly runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}

/** @param offset seconds until its first poll */
export function newManagedTarget(settings: TargetSettings, clock: Clock, offset: number): ManagedTarget {
  return {
    name: settings.target.name,
    settings,
    rateLimitKey: rateLimitKey(settings.target),
    target: undefined,
    connection: undefined,
    startsAt: clock.monotonic() + offset,
    lease: undefined,
    state: 'idle',
    problem: undefined,
    runExclusive: oneAtATime(),
  }
}

export type LoadTargetOptions = Pick<OpenTargetOptions, 'store' | 'clock' | 'receiversOf'> & {
  ownership: Ownership
  /** What is loaded after that is not kept. */
  aborted?: AbortSignal
}

/**
 * Loads the state of a target from the store, anew where it was loaded before.
 *
 * @throws {StoreError}
 */
export async function loadManagedTarget(managed: ManagedTarget, options: LoadTargetOptions): Promise<Target> {
  const { name, settings, target: before } = managed
  // A commit that is under way must not come after it.
  await before?.runExclusive(async () => undefined)
  const owner = () => options.ownership.ownerOf(name)
  const target = await openTarget({ ...options, settings, owner, record: before?.record })
  // Its lease has ended meanwhile, or another one has begun, before which other daemons may have committed.
  options.aborted?.throwIfAborted()
  managed.target = target
  return target
}

/** Drops the state of a target that this daemon does not own any more. */
export function unloadManagedTarget(managed: ManagedTarget): void {
  void managed.connection?.close()
  Object.assign(managed, { target: undefined, connection: undefined, lease: undefined, problem: undefined })
}

export type PrepareOptions = Pick<ConnectionOptions, 'log' | 'transportTo'> &
  LoadTargetOptions & {
    limits: RequestLimits
    /** From 0 to 1. */
    random: () => number
    lease: Lease
    aborted: AbortSignal
  }

/** A target that is ready to be polled; `offset`, the seconds until its first poll. */
export type Prepared = { target: Target; connection: ServiceConnection; offset: number }

/**
 * Makes a target ready to be polled with its settings under this lease. Under the same lease it continues where it was; what was
 * read of its list stays read, unless the settings of the poll have changed.
 *
 * @throws {StoreError}
 */
export async function prepareManagedTarget(managed: ManagedTarget, options: PrepareOptions): Promise<Prepared> {
  const { clock, limits, lease, aborted } = options
  aborted.throwIfAborted()
  const { settings, target: before } = managed
  const was = before?.settings ?? settings
  const isBroken = managed.state === 'broken'
  const isAlone = options.store.cluster === undefined
  // Otherwise another daemon may have committed before this lease.
  const continues = managed.lease === lease || (isAlone && managed.lease === undefined)
  const due = continues ? dueIn(managed, was, clock) : undefined
  const target = await upToDate(managed, continues && !isBroken, options)
  if (!continues) beginPolling(target)
  const offset = isBroken ? 0 : Math.min(due ?? dueAfterFailover(target, was, options), settings.poll.interval)
  target.rateLimiter = await limits.rateLimiterOf(settings)
  aborted.throwIfAborted()
  const connection = connected(managed, options)
  managed.connection = connection
  managed.startsAt = clock.monotonic() + offset
  managed.lease = lease
  managed.state = 'idle'
  return { target, connection, offset }
}

/** The connection with its settings. */
function connected(managed: ManagedTarget, options: PrepareOptions): ServiceConnection {
  const { name, settings, connection: before } = managed
  const dependsOn = ({ target, poll, participants }: TargetSettings) => [target, poll, participants]
  if (before !== undefined && isDeepStrictEqual(dependsOn(before.settings), dependsOn(settings))) return before
  void before?.close()
  const mayAsk = () => options.ownership.owns(name)
  return connect({ ...options, settings, ledger: () => managed.target!.ledger, mayAsk })
}

/** The state of a target with its settings; loaded anew unless it `continues` and polls and rules are the same. */
async function upToDate(managed: ManagedTarget, continues: boolean, options: LoadTargetOptions): Promise<Target> {
  const { settings, target: before } = managed
  if (!continues || before === undefined) return loadManagedTarget(managed, options)
  const isSamePoll = isDeepStrictEqual(before.settings.poll, settings.poll)
  if (isSamePoll && isDeepStrictEqual(before.settings.rules, settings.rules)) {
    before.settings = settings
    return before
  }
  const target = await loadManagedTarget(managed, options)
  // With another page size the pages that were read are others.
  if (isSamePoll) target.memory = before.memory
  return target
}

/** Seconds until a poll is due, as if the last run continued. */
function dueIn({ startsAt, lease }: ManagedTarget, { poll: { interval } }: TargetSettings, clock: Clock): number {
  const late = clock.monotonic() - startsAt
  if (lease === undefined) return Math.max(0, -late)
  return late < 0 ? -late : Math.ceil(late / interval) * interval - late
}

/**
 * When the first poll is due after another daemon's last one (seconds). Where that is late, at once; but not of all
 * targets at once, and so that a target whose owner died is polled within the lease and two intervals, renewals included.
 */
function dueAfterFailover(
  target: Target,
  { poll }: TargetSettings,
  { random, ownership }: Pick<PrepareOptions, 'random' | 'ownership'>,
): number {
  const left = poll.interval - target.pollAge()
  if (left > 0 && target.ledger.sync.lastSuccess !== undefined) return left
  return (random() * Math.max(0, poll.interval - 2 * ownership.renewalInterval)) / 2
}
