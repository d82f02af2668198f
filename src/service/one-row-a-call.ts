import { finalStatus } from '../ledger/call.ts'
import type { ListedCall } from '../ledger/observation.ts'

/**
 * A row for each call of an answer. If two rows are one call, as where one of them is outdated, the later state counts, then the larger
 * minutes.
 */
export function oneRowACall<Row extends ListedCall>(rows: Row[]): Row[] {
  const latest = new Map<string, Row>()
  for (const row of rows) {
    const other = latest.get(row.id)
    if (other === undefined || isLater(row, other)) latest.set(row.id, row)
  }
  return latest.size === rows.length ? rows : [...latest.values()]
}

function isLater(row: ListedCall, other: ListedCall): boolean {
  const [state, before] = [stateOf(row), stateOf(other)]
  return state === before ? minutesOf(row) > minutesOf(other) : state > before
}

const stateOf = (row: ListedCall) => (finalStatus(row) !== undefined ? 2 : row.status === 'initiated' ? 0 : 1)

function minutesOf(row: ListedCall): number {
  if ('phase' in row) return row.minutes.reduce((sum, value) => sum + value, 0)
  const sums = [row.callMinutes, row.participantMinutes].flatMap((minutes) => Object.values(minutes))
  return sums.reduce<number>((sum, value = 0) => sum + value, 0)
}
