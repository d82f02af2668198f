import { secretsOf } from '../../config/secrets.ts'
import { maskSecrets } from '../../log/mask-secrets.ts'
import type { Declare } from '../command.ts'
import { auditView, type AuditReport } from '../../views/audit.ts'
import { auditLines } from './report.ts'
import { auditStore } from './store.ts'

/**
 * Compares the store with what the service lists now, target by target, and prints the differences. It does not disturb a
 * running daemon. It succeeds if every comparison is complete and finds no difference.
 */
export const declare: Declare = (command, { configured, print, succeed }) =>
  void command
    .option('--json', 'print the result as JSON', false)
    .option('--full', 'read the list to its end, beyond the lookback', false)
    .action(async ({ json, full, ...options }) => {
      const config = await configured(options)
      const mask = maskSecrets(secretsOf(config))
      const reports: AuditReport[] = []
      for await (const report of auditStore(config, { full })) {
        reports.push(report)
        if (!json) for (const line of auditLines(report)) print(mask(line))
      }
      const document = auditView(reports)
      if (json) print(mask(JSON.stringify(document, undefined, 2)))
      succeed(document.equal)
    })
