import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../clock/clock.ts'
import type { Ownership, Tenure } from '../cluster/ownership.ts'
import { newPollMemory } from '../polling/poll-memory.ts'
import type { RateLimiter } from '../polling/rate-limiter.ts'
import { connect, type Connection, type ConnectionOptions } from './connection.ts'
import { replicaHealth } from './health.ts'
import type { RequestLimits } from './request-limits.ts'
import {
  beginPolling,
  rateLimitKey,
  oneAtATime,
  openTarget,
  reloadTarget,
  type OpenTargetOptions,
  type Target,
  type TargetSettings,
} from './target.ts'

/** A target that is open, and what it takes to run it. */
export type Entry = {
  readonly target: Target
  /** With which its state was loaded. */
  loaded: TargetSettings
  /** Those of the active configuration, with which it is shown. */
  wanted: TargetSettings
  connection: Connection | undefined
  rateLimitKey: string
  /** When its polls began, or are to begin (monotonic seconds): one is due each interval from then on. */
  startsAt: number
  /** The tenure in which it was last polled. */
  tenure: Tenure | undefined
  isRunning: boolean
  /** Metrics may export it: all commits of earlier owners are applied. */
  isCaughtUp: boolean
  /** A bug has ended it: what it has in memory may be half of a change. */
  isBroken: boolean
  readonly runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}

export type OpenEntryOptions = OpenTargetOptions & {
  ownership: Ownership
  limits: RequestLimits
  /** Seconds until its first poll. */
  offset: number
}

/**
 * Opens a target that is not polled yet.
 *
 * @throws {StoreError}
 */
export async function openEntry({ ownership, limits, offset, ...options }: OpenEntryOptions): Promise<Entry> {
  const { settings, clock } = options
  const target = await openTarget(options)
  const { name } = target
  const unowned = () => ownership.problem() ?? 'no daemon owns it at the moment'
  target.rateLimiter = await limits.rateLimiterOf(settings)
  target.owner = () => ownership.ownerOf(name)
  target.health = () =>
    ownership.owns(name)
      ? target.record.current()
      : replicaHealth(ownership.healthOf(name), target.owner() === undefined ? unowned() : undefined)
  return {
    target,
    loaded: settings,
    wanted: settings,
    connection: undefined,
    rateLimitKey: rateLimitKey(settings.target),
    startsAt: clock.monotonic() + offset,
    tenure: undefined,
    isRunning: false,
    isCaughtUp: false,
    isBroken: false,
    runExclusive: oneAtATime(),
  }
}

/** Takes the state of a target from the store again. */
export async function loadEntry(entry: Entry, settings: TargetSettings): Promise<void> {
  await reloadTarget(entry.target, settings)
  entry.loaded = settings
  entry.target.settings = entry.wanted
}

export type PrepareOptions = Omit<ConnectionOptions, 'target' | 'mayAsk'> & {
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  ownership: Ownership
  limits: RequestLimits
  settings: TargetSettings
  tenure: Tenure
  aborted: AbortSignal
}

/** A target that is ready to be polled; `offset`, the seconds until its first poll. */
export type Prepared = { connection: Connection; rateLimiter: RateLimiter; offset: number }

/**
 * Makes a target ready to be polled with these settings in this tenure. In the same tenure it continues where it was; what was
 * read of its list stays read, unless the settings of the poll have changed.
 *
 * @throws {StoreError}
 */
export async function prepareEntry(entry: Entry, options: PrepareOptions): Promise<Prepared> {
  const { clock, random, ownership, limits, settings, tenure, aborted } = options
  aborted.throwIfAborted()
  const { target, loaded } = entry
  const isSamePoll = isDeepStrictEqual(loaded.poll, settings.poll)
  const isSame = isSamePoll && isDeepStrictEqual(loaded.rules, settings.rules)
  // Before this tenure, another daemon may have continued with what was opened.
  const isAlone = target.store.sharing === undefined
  const continues = entry.tenure === tenure || (isAlone && entry.tenure === undefined)
  const due = continues ? dueIn(entry, clock) : dueAfterFailover(entry, { random, ownership })
  const offset = entry.isBroken ? 0 : Math.min(due, settings.poll.interval)
  if (entry.isBroken || !isSame) await loadEntry(entry, settings)
  aborted.throwIfAborted()
  // With another page size the pages that were read are others, and another daemon has moved on.
  if (entry.isBroken || !isSamePoll || !continues) target.memory = newPollMemory(target.ledger, clock)
  if (!continues) beginPolling(target)
  const rateLimiter = await limits.rateLimiterOf(settings)
  aborted.throwIfAborted()
  target.settings = settings
  target.rateLimiter = rateLimiter
  const { target: asked, poll } = entry.connection?.settings ?? {}
  if (entry.connection === undefined || !isDeepStrictEqual([asked, poll], [settings.target, settings.poll])) {
    void entry.connection?.close()
    entry.connection = connect({ ...options, target, mayAsk: () => ownership.owns(target.name) })
  }
  Object.assign(entry, {
    loaded: settings,
    rateLimitKey: rateLimitKey(settings.target),
    startsAt: clock.monotonic() + offset,
    tenure,
    isBroken: false,
  })
  // The targets that still have the key of before may ask for more now.
  limits.resizeLimit(loaded)
  return { connection: entry.connection, rateLimiter, offset }
}

/** Seconds until a poll is due, as if the last run continued. */
function dueIn({ startsAt, loaded, tenure }: Entry, clock: Clock): number {
  const late = clock.monotonic() - startsAt
  if (tenure === undefined) return Math.max(0, -late)
  return late < 0 ? -late : Math.ceil(late / loaded.poll.interval) * loaded.poll.interval - late
}

/**
 * When the first poll is due after another daemon's last one (seconds). Where that is late, at once; but not of all
 * targets at once, and so that a target whose owner died is polled within the lease and two intervals, renewals included.
 */
function dueAfterFailover(
  { target, loaded: { poll } }: Entry,
  { random, ownership }: Pick<PrepareOptions, 'random' | 'ownership'>,
): number {
  const left = poll.interval - target.pollAge()
  if (left > 0 && target.ledger.sync.lastSuccess !== undefined) return left
  return (random() * Math.max(0, poll.interval - 2 * ownership.renewalInterval)) / 2
}
