import { secretsOf } from '../../config/secrets.ts'
import { maskSecrets } from '../../log/mask-secrets.ts'
import type { Declare } from '../command.ts'
import { auditView, type AuditReport } from '../../views/commands/audit.ts'
import type { UsageAudit } from '../../views/commands/audit-usage.ts'
import { UsageError } from '../explain-error.ts'
import { auditLines } from './report.ts'
import { auditStore } from './store.ts'
import { auditUsage } from './usage.ts'
import { usageLines } from './usage-lines.ts'

/**
 * Compares the store with what the service lists now, target by target, and prints the differences. It does not disturb a
 * running daemon. It succeeds if every comparison is complete and finds no difference; with `--usage`, if the vendor said its minutes of each
 * target.
 */
export const declare: Declare = (command, { configured, print, succeed }) =>
  void command
    .option('--json', 'print the result as JSON', false)
    .option('--full', 'read the list to its end, beyond the lookback', false)
    .option('--usage', "instead: compare the minutes of a month with the vendor's own count", false)
    .option('--month <month>', 'with --usage: this calendar month (UTC), such as 2026-11 (default: the present one)')
    .action(async ({ json, full, usage, month, ...options }) => {
      if (month !== undefined && !usage) throw new UsageError('--month is accepted together with --usage only')
      const config = await configured(options)
      const mask = maskSecrets(secretsOf(config))
      if (usage) {
        const targets: UsageAudit[] = []
        for await (const one of auditUsage(config, month)) {
          targets.push(one)
          if (!json) for (const line of usageLines(one)) print(mask(line))
        }
        if (json) print(mask(JSON.stringify({ targets }, undefined, 2)))
        return succeed(targets.every(({ problem }) => problem === null))
      }
      const reports: AuditReport[] = []
      for await (const report of auditStore(config, { full })) {
        reports.push(report)
        if (!json) for (const line of auditLines(report)) print(mask(line))
      }
      const document = auditView(reports)
      if (json) print(mask(JSON.stringify(document, undefined, 2)))
      succeed(document.equal)
    })
