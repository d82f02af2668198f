import { unpackCall } from '../ledger/call-record.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** The call of a row with its `id` and `data`. */
export function callOf({ id, data }: Record<string, unknown>): TrackedCall {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is a BLOB
  return unpackCall(String(id), data as Uint8Array)
}
