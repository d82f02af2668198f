import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { auditLines } from './audit-lines.ts'
import type { AuditReport } from './audit-report.ts'
import { auditStore } from './audit-store.ts'
import { maskSecrets } from '../log/mask-secrets.ts'

/** What `--json` prints. */
export type AuditDocument = { equal: boolean; targets: AuditReport[] }

/**
 * Compares the store with what the service lists now, target by target, and prints the differences. It does not disturb a
 * daemon that uses the store.
 *
 * @returns whether every comparison is complete, and nothing differs
 * @throws {StoreError} when the store cannot be read, or belongs to another target
 */
export async function audit(
  config: Config,
  { json, full = false }: { json: boolean; full?: boolean },
  print: (line: string) => void,
): Promise<boolean> {
  const mask = maskSecrets(secretsOf(config))
  const printMasked = (text: string) => print(mask(text))
  const reports: AuditReport[] = []
  for await (const report of auditStore(config, { full })) {
    reports.push(report)
    if (!json) for (const line of auditLines(report)) printMasked(line)
  }
  const equal = reports.every((report) => report.equal)
  const document: AuditDocument = { equal, targets: reports }
  if (json) printMasked(JSON.stringify(document, undefined, 2))
  return equal
}
