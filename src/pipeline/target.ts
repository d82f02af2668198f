import { createHash } from 'node:crypto'
import type { AlertInstance } from '../alerts/alert-instance.ts'
import { reachOf } from '../alerts/evidence.ts'
import type { Rule } from '../alerts/rule.ts'
import type { Recent } from '../alerts/trigger.ts'
import { valuesOfDay, type ValuesOfDay } from '../alerts/values-of-day.ts'
import type { Clock } from '../clock/clock.ts'
import { FIRST_POLL_INTERVALS } from '../clock/intervals.ts'
import { oneByOne } from '../clock/one-by-one.ts'
import { wholeMilliseconds } from '../clock/times.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import type { LedgerState, SyncState } from '../ledger/state.ts'
import { USAGE_RETENTION_SECONDS } from '../ledger/usage.ts'
import { newPollMemory, sweepProgress, type PollMemory, type SweepProgress } from '../polling/poll-memory.ts'
import { UNLIMITED, type RateLimiter } from '../polling/rate-limiter.ts'
import type { Store, TargetIdentity } from '../store/store.ts'
import { userMinutesSince } from '../store/user-minutes.ts'
import { missedWebhooksOf, type MissedWebhooks } from './missed-webhooks.ts'
import { readUsualCalls } from './usual-calls.ts'
import { healthRecord, type Health, type HealthRecord } from './health.ts'

/** The configuration of a target: its own part, and the settings that all targets share. */
export type TargetSettings = {
  target: TargetConfig
  poll: PollConfig
  rules: readonly Rule[]
  /** Whether events have participants; default: false. */
  participants?: boolean
}

/** The status of a target, as metrics, API and page show it. Ages are in seconds. */
export type TargetStatus = {
  readonly name: string
  readonly ledger: LedgerState
  readonly alerts: ReadonlyMap<string, AlertInstance>
  readonly settings: {
    readonly poll: Pick<PollConfig, 'baseline' | 'interval' | 'lookback' | 'maxRequestsPerMinute'>
    readonly rules: readonly Rule[]
  }
  /** Since the last successful poll; before the first one, since the target was created. */
  readonly pollAge: () => number
  /** Since the last complete sweep began; undefined before the first one. */
  readonly sweepAge: () => number | undefined
  /** Since the last evaluation of the rules; before the first one, since the start. */
  readonly evaluationAge: () => number
  readonly health: () => Health
  readonly recent: Recent
  readonly values: Pick<ValuesOfDay, 'latest' | 'of'>
  /** Whether webhooks announced its ends; absent if it accepts none. */
  readonly ends?: MissedWebhooks
  /** The name of the daemon that polls the target, if several daemons share the store and one of them polls it. */
  readonly owner: () => string | undefined
  /** The progress of the running sweep. */
  readonly progress: () => SweepProgress | undefined
  /** How many seconds the rate limit pause still lasts. */
  readonly pausedFor: () => number
  /** Requests a minute for the target's app, if the service's limit allows fewer than configured. */
  readonly slowedTo: () => number | undefined
}

/**
 * A loaded target. Only `apply` changes its committed state (commit.ts), except for `ledger.earlier` and
 * `ledger.usual`. If the configuration changes, or another daemon has
 * committed, the target is loaded again.
 */
export type Target = TargetStatus & {
  settings: TargetSettings
  readonly alerts: Map<string, AlertInstance>
  /** How long finished calls are kept for its rules (seconds). */
  readonly longestWindow: number
  /** What a poll remembers for the next one. */
  memory: PollMemory
  /** When the events of the target happened (monotonic seconds). */
  readonly times: Times
  /** The answer to the last commit was lost. Nothing more is committed until the store says whether that commit was made. */
  lastCommitUnknown: boolean
  readonly record: HealthRecord
  readonly values: ValuesOfDay
  rateLimiter: RateLimiter
  readonly store: Store
  readonly clock: Clock
  /** Runs polls, ticks and loads one after the other. */
  readonly runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}

export type Times = {
  /** When this process opened the target first. */
  opened: number
  /** When the last successful poll ended, and when the last complete sweep began. */
  polled: number
  swept: number | undefined
  evaluated: number
  /** By when the first poll should have ended. A pause until then is not the service's fault. */
  awaited: number
}

export type OpenTargetOptions = Pick<Target, 'settings' | 'store' | 'clock'> & {
  owner?: Target['owner']
  /** Whether the store must have it: one that was renamed or reset meanwhile is not created again. Default: it is created if it is new. */
  isStored?: boolean
  /** The same target from an earlier load. */
  before?: Pick<Target, 'record' | 'values' | 'runExclusive' | 'ends' | 'times' | 'memory'> | undefined
}

/**
 * Opens a target in the store, and creates it if it is new.
 *
 * @throws {StoreError}
 */
export async function openTarget(options: OpenTargetOptions): Promise<Target> {
  const { settings, store, clock, owner = () => undefined, isStored = false, before } = options
  const { record = healthRecord(clock.monotonic), values = valuesOfDay(), runExclusive = oneByOne() } = before ?? {}
  const { target: config, poll, rules } = settings
  const longestWindow = Math.max(...Object.values(EXPORTED_WINDOWS), ...rules.map(reachOf))
  // A commit in flight must end before this.
  const stored = await runExclusive(async () => {
    const created = isStored ? undefined : clock.wall()
    const opened = await store.openTarget(identityOf(config), created, longestWindow)
    if (rules.some(({ signal }) => signal.name === 'budget_minutes'))
      opened.ledger.userMinutes = await userMinutesSince(
        store,
        config.name,
        clock.wall() - USAGE_RETENTION_SECONDS,
        poll.lookback,
      )
    const { lastSuccess: now, previousSuccess } = opened.ledger.sync
    if (now !== undefined)
      await readUsualCalls({ name: config.name, settings, store, ...opened }, { now, previousSuccess })
    return opened
  })
  const times = timesOf(stored.ledger.sync, options)
  const ends = missedWebhooksOf(options)
  const target: Target = {
    name: config.name,
    settings,
    ...stored,
    longestWindow,
    memory: newPollMemory(stored.ledger.sync, times.swept, before?.memory.shownOpen),
    times,
    lastCommitUnknown: false,
    ...(ends && { ends }),
    record,
    health: record.current,
    recent: { requests: record.requestsWithin },
    values,
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
    runExclusive,
  }
  return target
}

function timesOf(sync: SyncState, { clock, settings, before }: OpenTargetOptions): Times {
  const now = clock.monotonic()
  const { lastSuccessHostTime, created, lastSweepBegan, clockSkew = 0 } = sync
  const monotonicOf = (time: number) => now - Math.max(0, clock.wall() - time)
  return {
    opened: before?.times.opened ?? now,
    polled: monotonicOf(lastSuccessHostTime ?? created),
    swept: lastSweepBegan && monotonicOf(lastSweepBegan - clockSkew),
    evaluated: now,
    awaited: now + FIRST_POLL_INTERVALS * settings.poll.interval,
  }
}

/** When this process opened a target, by the host's clock as it is set now (UNIX seconds). */
export function hostOpened({ clock, times }: Pick<Target, 'clock' | 'times'>): number {
  return wholeMilliseconds(clock.wall() - (clock.monotonic() - times.opened))
}

export function identityOf(config: TargetConfig): TargetIdentity {
  return { name: config.name, fingerprint: targetFingerprint(config) }
}

/** Distinguishes targets that have the same name. */
export function targetFingerprint({ baseUrl, onBehalfOf = '', query }: TargetConfig): string {
  const sorted = Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return digest(JSON.stringify([baseUrl, onBehalfOf, sorted]))
}

/** The service limits the requests of an app, whichever key is used. An app has its own base URL, in whatever spelling. */
export function rateLimitKey({ baseUrl }: TargetConfig): string {
  const { protocol, host, pathname } = new URL(baseUrl)
  return digest(`${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname.replace(/\/+/g, '/').replace(/\/$/, '')}`)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
