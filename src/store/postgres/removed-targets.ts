import { PHASE_AT, STATUS_AT } from '../../ledger/call-record.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { QUARTER, quarterHourOf } from '../../ledger/usage.ts'
import type { Session } from './connection.ts'
import { markStale } from './rollups.ts'

const LOSE = `
  WITH left_now AS (
    UPDATE callwatch.targets SET removed = $2 WHERE number = $1::int AND removed IS NULL RETURNING number
  ), lost AS (
    UPDATE callwatch.calls SET finished = $2, noticed = $2, status = ${LOST_CODE}
    FROM left_now WHERE target = number AND is_open
  )
  ${markStale('(SELECT $3::bigint AS quarter, number AS target FROM left_now)')}`

/**
 * Parts of a statement: the calls of targets that were removed are as they were. `back` names a part with `number`, and `removed` as
 * it was before. Codes are read from the records, which stay as they are.
 */
export const reopenedCalls = (back: string) => `
  reopened AS (
    UPDATE callwatch.calls SET finished = NULL, noticed = NULL, status = get_byte(data, ${STATUS_AT})
    FROM (SELECT number, removed FROM ${back} WHERE removed IS NOT NULL) AS back
    WHERE target = number AND finished = removed AND tracked AND get_byte(data, ${PHASE_AT}) = 0
  ), changed AS (
    ${markStale(`(SELECT floor(removed / ${QUARTER})::bigint * ${QUARTER} AS quarter, number AS target FROM ${back} WHERE removed IS NOT NULL)`)}
  )`

/** Targets are locked in one order. */
const RESTORE = `
  WITH back AS (
    SELECT number, removed FROM callwatch.targets WHERE name = ANY ($1::text[]) AND removed IS NOT NULL
    ORDER BY number FOR UPDATE
  ), ${reopenedCalls('back')}
  UPDATE callwatch.targets SET removed = NULL FROM back WHERE targets.number = back.number`

/**
 * Nobody sees the ends of the open calls of a target that left the configuration: their columns say that they are lost from
 * then on (UNIX seconds by the service's clock). Within a transaction that has locked the target.
 */
export async function loseOpenCalls({ run }: Session, number: number, at: number): Promise<void> {
  await run(LOSE, [number, at, quarterHourOf(at)])
}

/** The calls of those of these targets that were removed are as they were. */
export async function restoreTargets({ run }: Session, names: readonly string[]): Promise<void> {
  await run(RESTORE, [names])
}
