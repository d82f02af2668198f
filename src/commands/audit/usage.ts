import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { minuteSums } from '../../history/minute-sums.ts'
import { reportOf } from '../../history/report.ts'
import { ServiceError } from '../../service/service-error.ts'
import type { TargetConfig } from '../../service/target-section.ts'
import { undiciTransport } from '../../service/undici-transport.ts'
import { vendorMinutes, type VendorMinutes } from '../../service/vendor-minutes.ts'
import { openReader } from '../../store/open-store.ts'
import { usageAuditView, type UsageAudit } from '../../views/commands/audit-usage.ts'
import { periodOf } from '../../history/queries/parameters.ts'
import { reportView } from '../../views/report.ts'
import { monthGiven } from '../options/month.ts'

/**
 * Compares the minutes of a month with the vendor's own count, target by target.
 *
 * @param month such as `2026-11`; default: the present one, until now (UTC)
 * @throws {StoreError} if the store cannot be read
 * @throws {UsageError} if the month is none
 */
export async function* auditUsage(config: Config, month?: string): AsyncGenerator<UsageAudit, void> {
  const { wall } = systemClock
  const given = monthGiven(month ?? new Date(wall() * 1000).toISOString().slice(0, 7))
  await using reader = await openReader(config.store)
  const configured = config.targets.map(({ name }) => name)
  for (const target of config.targets) {
    const { name } = target
    const asked = { by: [], zone: 'UTC', targets: [name] }
    const now = await readServiceNow(reader, [name], wall())
    const { from, to = now } = periodOf({ ...given, zone: 'UTC' }, now, '--')
    const period = { from, to: Math.min(Math.floor(now), to) }
    const report = reportView(await reportOf(reader, { ...asked, ...period }, { configured, now: wall() }))
    const vendor = await minutesOf(target, config, period)
    yield usageAuditView({ target: name, report, sums: await minuteSums(reader, name, period), vendor })
  }
}

async function minutesOf(
  { apiKey, chatBaseUrl }: TargetConfig,
  { poll }: Config,
  period: { from: number; to: number },
): Promise<VendorMinutes | { problem: string }> {
  if (chatBaseUrl === undefined)
    return { problem: "the target has a base_url; set its chat_base_url too, the chat service's address" }
  const transport = undiciTransport(chatBaseUrl, poll.maxAnswerBytes)
  const signal = () => AbortSignal.timeout(poll.timeout * 1000)
  try {
    return await vendorMinutes(transport, { ...period, apiKey, hostTime: systemClock.wall, signal })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { problem: `${error.message}${MEANINGS[error.status ?? 0] ?? ''}` }
  }
}

/** What a status of the chat service means, by its published reference. */
const MEANINGS: Readonly<Record<number, string>> = {
  401: '; usage metrics need a key of the app with the scope fullAccess',
  403: '; usage metrics need a key of the app with the scope fullAccess',
  404: '; this chat service has no usage metrics',
}
