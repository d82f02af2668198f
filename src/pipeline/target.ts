import { createHash } from 'node:crypto'
import type { AlertInstance } from '../alerts/alert-instance.ts'
import { reachOf } from '../alerts/evidence.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Rule } from '../alerts/rule.ts'
import type { Clock } from '../clock/clock.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import type { LedgerState } from '../ledger/state.ts'
import { newPollMemory, sweepProgress, type PollMemory, type SweepProgress } from '../polling/poll-memory.ts'
import { UNLIMITED, type RateLimiter } from '../polling/rate-limiter.ts'
import type { Store, TargetIdentity } from '../store/store.ts'
import { healthRecord, type Health, type HealthRecord } from './health.ts'

/** What a target depends on in the configuration: its own part, and what holds for all of them. */
export type TargetSettings = {
  target: TargetConfig
  poll: PollConfig
  rules: readonly Rule[]
  /** Whether events have participants; default: false. */
  participants?: boolean
}

/** The receivers, by name, that are notified of a change. */
export type ReceiversOf = (change: Notification) => readonly string[]

/** What metrics, API and page show of a target. Ages are in seconds. */
export type TargetStatus = {
  readonly name: string
  readonly ledger: LedgerState
  readonly alerts: ReadonlyMap<string, AlertInstance>
  readonly settings: {
    readonly poll: Pick<PollConfig, 'baseline' | 'interval' | 'lookback' | 'maxRequestsPerMinute'>
    readonly rules: readonly Rule[]
  }
  /** Since the last successful poll; since the set-up before the first. */
  readonly pollAge: () => number
  /** Since the last complete sweep began; undefined before the first. */
  readonly sweepAge: () => number | undefined
  /** Since the rules were last evaluated; since the start before. */
  readonly evaluationAge: () => number
  readonly health: () => Health
  /** The daemon that polls it, by name, where several share the store and one of them does. */
  readonly owner: () => string | undefined
  /** The progress of the running sweep. */
  readonly progress: () => SweepProgress | undefined
  /** For how many seconds more no request is made, because the service asked for that. */
  readonly pausedFor: () => number
  /** Requests a minute for its app, where the service's own limit allows no more beside others. */
  readonly slowedTo: () => number | undefined
}

/**
 * One target as it was loaded. What is committed of it changes by `apply` alone (commit.ts); where the configuration changes, or
 * another daemon has moved on, it is loaded anew.
 */
export type Target = TargetStatus & {
  settings: TargetSettings
  readonly alerts: Map<string, AlertInstance>
  /** How far back finished calls are kept, by its rules (seconds). */
  readonly longestWindow: number
  /** What polls remember from one to the next. */
  memory: PollMemory
  /** When things happened (monotonic seconds). */
  readonly times: Times
  /** The answer to the last commit was lost: nothing more is committed until the store says whether it was made. */
  lastCommitUnknown: boolean
  readonly record: HealthRecord
  rateLimiter: RateLimiter
  readonly store: Store
  readonly clock: Clock
  readonly receiversOf: ReceiversOf
  /** Runs polls, ticks and loads one after the other. */
  readonly runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}

export type Times = {
  /** When the last successful poll ended, and the last complete sweep began. */
  polled: number
  swept: number | undefined
  evaluated: number
  /** Until then the first poll may take: a pause before it is not the service's fault. */
  awaited: number
}

export type OpenTargetOptions = Pick<Target, 'settings' | 'store' | 'clock' | 'receiversOf'> & {
  owner?: Target['owner']
  /** The same target as it was loaded before. */
  before?: Pick<Target, 'record' | 'runExclusive'> | undefined
}

/** So many intervals a first poll may take before its target counts as not polled. */
const FIRST_POLL_INTERVALS = 2

/**
 * Opens a target in the store, and sets it up where it is new.
 *
 * @throws {StoreError}
 */
export async function openTarget(options: OpenTargetOptions): Promise<Target> {
  const { settings, store, clock, receiversOf, owner = () => undefined, before } = options
  const { record = healthRecord(clock.monotonic), runExclusive = oneAtATime() } = before ?? {}
  const { target: config, poll, rules } = settings
  const longestWindow = Math.max(...Object.values(EXPORTED_WINDOWS), ...rules.map(reachOf))
  // A commit that is under way must not come after it.
  const stored = await runExclusive(() => store.openTarget(identityOf(config), clock.wall(), longestWindow))
  const now = clock.monotonic()
  const { lastSuccessHostTime, created, lastSweepBegan, clockSkew = 0 } = stored.ledger.sync
  const monotonicOf = (time: number) => now - Math.max(0, clock.wall() - time)
  const times: Times = {
    polled: monotonicOf(lastSuccessHostTime ?? created),
    swept: lastSweepBegan && monotonicOf(lastSweepBegan - clockSkew),
    evaluated: now,
    awaited: now + FIRST_POLL_INTERVALS * poll.interval,
  }
  const target: Target = {
    name: config.name,
    settings,
    ...stored,
    longestWindow,
    memory: newPollMemory(stored.ledger.sync, times.swept),
    times,
    lastCommitUnknown: false,
    record,
    health: record.current,
    owner,
    rateLimiter: UNLIMITED,
    pollAge: () => clock.monotonic() - times.polled,
    sweepAge: () => (times.swept === undefined ? undefined : clock.monotonic() - times.swept),
    evaluationAge: () => clock.monotonic() - times.evaluated,
    progress: () => sweepProgress(target.memory, clock.monotonic()),
    pausedFor: () => target.rateLimiter.pausedFor(),
    slowedTo: () => {
      const { perMinute, isSlowed } = target.rateLimiter.pace()
      return isSlowed ? perMinute : undefined
    },
    store,
    clock,
    receiversOf,
    runExclusive,
  }
  return target
}

export function identityOf(config: TargetConfig): TargetIdentity {
  return { name: config.name, fingerprint: targetFingerprint(config) }
}

/** What makes a target another one though its name is the same. */
export function targetFingerprint({ baseUrl, onBehalfOf = '', query }: TargetConfig): string {
  const sorted = Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return digest(JSON.stringify([baseUrl, onBehalfOf, sorted]))
}

/** The service limits the requests of an app, which is an address of its own, whatever their keys are. */
export function rateLimitKey({ baseUrl }: TargetConfig): string {
  return digest(baseUrl)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Runs what it is given one after the other, in the order in which it was asked. */
function oneAtATime(): Target['runExclusive'] {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}
