import { from, lastValueFrom, mergeMap } from 'rxjs'
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import type { TargetConfig } from '../../service/target-section.ts'
import type { RateLimiter } from '../../polling/rate-limiter.ts'
import { callsClient, type CallsClientOptions } from '../../service/calls-client.ts'
import { undiciTransport } from '../../service/undici-transport.ts'
import { openReader } from '../../store/open-store.ts'
import { StoreError } from '../../store/store-error.ts'
import type { StoreReader } from '../../store/reader.ts'
import { rateLimitKey, targetFingerprint } from '../../pipeline/target.ts'
import { targetAuditView, type AuditReport, type TargetAudit } from '../../views/commands/audit.ts'
import { besideDaemon } from './beside-daemon.ts'
import { auditTarget, type AuditTargetOptions } from './target.ts'

/** What is known of a target that the store does not know. */
const NOTHING = { calls: [], rejected: 0, lost: 0, notRequested: 0, orderUnverified: false }

/** So many targets are compared side by side: most of them wait for the limit of requests, or for a poll of the daemon. */
const SIDE_BY_SIDE = 8

type Reading = Parameters<NonNullable<AuditTargetOptions['onPage']>>

type AuditOptions = {
  /** Whether to read the list to its end, beyond the horizon. */
  full?: boolean
  /** Gets the report of each target as soon as it is ready. */
  onReport?: (report: AuditReport) => void
  /** Called before each page of a target's list but the first, with how many will be read at most, if that is known. */
  onPage?: (target: string, ...page: Reading) => void
}

/**
 * Compares the configured store with what the service lists now.
 *
 * @returns the report of each target, in the order of the configuration
 * @throws {StoreError} if the store cannot be read, or has counted another target
 */
export async function auditStore(
  config: Config,
  { full = false, onReport = () => undefined, onPage = () => undefined }: AuditOptions = {},
): Promise<AuditReport[]> {
  await using reader = await openReader(config.store)
  for (const target of config.targets) await expectSame(target, reader)
  const rateLimiters = new Map<string, RateLimiter>()
  const reports: AuditReport[] = []
  const compare = async (target: TargetConfig, index: number) => {
    const given = { full, onPage: (...page: Reading) => onPage(target.name, ...page) }
    const report = targetAuditView(await auditConfigured(target, config, reader, rateLimiters, given))
    reports[index] = report
    onReport(report)
  }
  await lastValueFrom(from(config.targets).pipe(mergeMap(compare, SIDE_BY_SIDE)))
  return reports
}

/** @throws {StoreError} if the calls of a target were counted with another address */
async function expectSame(target: TargetConfig, reader: StoreReader): Promise<void> {
  const stored = await reader.target(target.name)
  if (stored === undefined || stored.fingerprint === targetFingerprint(target)) return
  throw new StoreError(
    'refused',
    `target ${target.name} had another URL, on_behalf_of or query when its calls were counted in ${reader.place}; ` +
      'audit it with the configuration that counted them',
  )
}

async function auditConfigured(
  target: TargetConfig,
  { poll }: Config,
  reader: StoreReader,
  rateLimiters: Map<string, RateLimiter>,
  given: Pick<AuditTargetOptions, 'full' | 'onPage'>,
): Promise<TargetAudit> {
  const stored = await reader.target(target.name)
  const nothing = (problem: string) => ({ ...NOTHING, target: target.name, problem })
  if (stored === undefined)
    return nothing(`${reader.place} has no such target; \`callwatch run\` has not counted any of its calls yet`)
  if (stored.sync.lastSuccess === undefined)
    return nothing('the first poll of `callwatch run` has not succeeded yet; audit again when it has')
  const transport = undiciTransport(target.baseUrl, poll.maxAnswerBytes)
  const clientWith = (options: Pick<CallsClientOptions, 'identify'>) =>
    callsClient(transport, { ...target, ...poll, ...options, wall: systemClock.wall })
  const key = rateLimitKey(target)
  const pausedUntil = await reader.pausedUntil(key)
  const rateLimiter = rateLimiters.get(key) ?? besideDaemon(poll, pausedUntil)
  rateLimiters.set(key, rateLimiter)
  const asking = { ...poll, clock: systemClock, rateLimiter, random: Math.random, onRequest: () => {} }
  const { sync } = stored
  const asked = { target: target.name, sync, reader, clientWith, asking, clock: systemClock, poll }
  return await auditTarget({ ...asked, ...given })
}
