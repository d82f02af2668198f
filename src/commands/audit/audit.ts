import { systemClock } from '../../clock/clock.ts'
import { secretsOf } from '../../config/secrets.ts'
import { appsOf } from '../../ledger/session-id.ts'
import { maskSecrets } from '../../log/mask-secrets.ts'
import type { CommandContext, Declare } from '../command.ts'
import { auditView, type AuditReport } from '../../views/commands/audit.ts'
import { usageTotalView, type UsageAudit } from '../../views/commands/audit-usage.ts'
import { UsageError } from '../explain-error.ts'
import { names } from '../options/option-values.ts'
import { formatReading } from '../../text/format.ts'
import { targetsOf } from '../service.ts'
import { auditLines } from './report.ts'
import { auditStore } from './store.ts'
import { auditUsage } from './usage.ts'
import { totalLine, usageLines } from './usage-lines.ts'

/** How often the comparison says how far it is (seconds). */
const PROGRESS_SECONDS = 10

/**
 * Compares the store with what the service lists now, several targets side by side, and prints the differences. It does not disturb a
 * running daemon. It succeeds if every comparison is complete and finds no difference; with `--usage`, if the vendor said its minutes of each
 * target.
 */
export const declare: Declare = (command, { configured, print, warn, succeed }) =>
  void command
    .option('--json', 'print the result as JSON', false)
    .option('--target <names>', 'only these targets; repeatable', names)
    .option('--full', 'read the list to its end, beyond the lookback', false)
    .option('--usage', "instead: compare the minutes of a month with the vendor's own count", false)
    .option('--month <month>', 'with --usage: this calendar month (UTC), such as 2026-11 (default: the present one)')
    .action(async ({ json, full, usage, month, target, ...options }) => {
      if (month !== undefined && !usage) throw new UsageError('--month is accepted together with --usage only')
      const all = await configured(options)
      const config = { ...all, targets: targetsOf(all, target) }
      const mask = maskSecrets(secretsOf(all))
      if (usage) {
        const targets: UsageAudit[] = []
        for await (const one of auditUsage(config, month)) {
          targets.push(one)
          if (!json) for (const line of usageLines(one)) print(mask(line))
        }
        const total = usageTotalView(targets, appsOf(config.targets))
        if (json) print(mask(JSON.stringify({ targets, total }, undefined, 2)))
        else if (targets.length > 1) print(mask(totalLine(total, targets.length)))
        return succeed(targets.every(({ problem }) => problem === null))
      }
      const reports = await auditStore(config, { full, ...progress(config.targets.length, warn) })
      const document = auditView(reports)
      if (json) print(mask(JSON.stringify(document, undefined, 2)))
      else for (const line of auditLines(reports)) print(mask(line))
      succeed(document.equal)
    })

/** Says how many of several targets were compared so far, and which page of a list is read. */
function progress(targets: number, warn: CommandContext['warn']) {
  let [compared, unequal, said] = [0, 0, systemClock.monotonic()]
  if (targets > 1) warn(`comparing ${targets} targets with what the service lists`)
  const say = (line: string) => {
    const now = systemClock.monotonic()
    if (now < said + PROGRESS_SECONDS) return
    said = now
    warn(line)
  }
  return {
    onReport: ({ equal }: AuditReport) => {
      compared += 1
      if (!equal) unequal += 1
      if (compared < targets)
        say(`compared ${compared} of ${targets} targets: ${compared - unequal} equal, ${unequal} not`)
    },
    onPage: (target: string, page: number, of: number | undefined) => say(`${target}: ${formatReading(page, of)}`),
  }
}
