import { PHASE_AT, STATUS_AT } from '../../ledger/call-record.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS } from '../../ledger/usage.ts'
import { markStale } from './rollups.ts'

const marked = (targets: string) =>
  markStale(
    `(SELECT floor(removed / ${QUARTER_HOUR_SECONDS})::bigint * ${QUARTER_HOUR_SECONDS} AS quarter, number AS target FROM ${targets})`,
  )

/**
 * callwatch does not see the ends of the open calls of a target ($1) that left the configuration. Their columns mark them as
 * lost from then on ($2, UNIX seconds by the service's clock); their records stay as they are.
 */
export const LOSE_OPEN_CALLS = `
  WITH gone AS (
    UPDATE callwatch.targets SET removed = $2 WHERE name = $1 AND removed IS NULL RETURNING number, removed
  ), lost AS (
    UPDATE callwatch.calls SET finished = removed, noticed = removed, status = ${LOST_CODE}
    FROM gone WHERE target = number AND is_open
  )
  ${marked('gone')}`

/** Parts of a statement with a part `back`, of targets as they were removed: their calls are again what their records say. */
export const REOPEN_CALLS = `
  reopened AS (
    UPDATE callwatch.calls SET finished = NULL, noticed = NULL, status = get_byte(data, ${STATUS_AT})
    FROM back WHERE target = number AND finished = removed AND tracked AND get_byte(data, ${PHASE_AT}) = 0
  ), reopening AS (
    ${marked('back')}
  )`
