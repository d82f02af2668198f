import { listCalls, type PagePosition } from '../../../src/history/list-calls.ts'
import type { HistoryStatus } from '../../../src/history/call-filter.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import type { RowReader } from '../../../src/store/sql.ts'

export type FinishedQuery = {
  /** UNIX seconds. */
  since: number
  limit: number
  target?: string | undefined
  status?: HistoryStatus | undefined
  after?: PagePosition | undefined
}

/** The newest calls of the history. */
export async function finishedCalls(
  store: RowReader,
  { since, limit, target, status, after }: FinishedQuery,
): Promise<{ target: string; call: TrackedCall }[]> {
  if (limit === 0) return []
  const filter = {
    since,
    until: Infinity,
    statuses: status && [status],
    targets: target === undefined ? undefined : [target],
  }
  const { calls } = await listCalls(store, filter, { limit, after })
  return calls.map(({ target: name, call }) => ({ target: name, call }))
}
