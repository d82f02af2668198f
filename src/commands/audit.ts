import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { auditLines } from './audit-lines.ts'
import type { AuditReport } from './audit-report.ts'
import { auditStore } from './audit-store.ts'
import { maskSecrets } from '../daemon/mask-secrets.ts'

/**
 * Compares the store with what the service lists now, target by target, and prints what differs. A daemon that uses the
 * store goes on undisturbed.
 *
 * @returns whether every target could be listed whole, and nothing differs
 * @throws {StoreError} when the store cannot be read, or is another target's
 */
export async function audit(
  config: Config,
  { json, full = false }: { json: boolean; full?: boolean },
  print: (line: string) => void,
): Promise<boolean> {
  const mask = maskSecrets(secretsOf(config))
  const say = (text: string) => print(mask(text))
  const reports: AuditReport[] = []
  for await (const report of auditStore(config, { full })) {
    reports.push(report)
    if (!json) for (const line of auditLines(report)) say(line)
  }
  const equal = reports.every((report) => report.equal)
  if (json) say(JSON.stringify({ equal, targets: reports }, undefined, 2))
  return equal
}
