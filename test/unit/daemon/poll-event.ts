import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { newLedger } from '../../../src/ledger/state.ts'
import type { PollReport } from '../../../src/polling/poll-report.ts'
import { healthRecord, type HealthRecord } from '../../../src/pipeline/health.ts'

/** A poll of a target that was successful, or for which the store could not be used; or the service, unless `storeFailed`. */
export function pollEvent(
  target: string,
  problem?: string,
  record: HealthRecord = healthRecord(() => 0),
  storeFailed = problem !== undefined,
): Extract<DaemonEvent, { kind: 'polled' }> {
  const successful = problem === undefined
  const report: PollReport = {
    outcome: successful ? 'complete' : 'failed',
    successful,
    seconds: 1,
    requests: [],
    remaining: undefined,
    problem,
    ...(!successful && { fault: storeFailed ? 'store' : 'service' }),
  }
  const before = record.current()
  record.add(report)
  return { kind: 'polled', target, report, before, sync: newLedger(0).sync }
}
