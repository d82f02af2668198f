import type { SyncState } from '../../ledger/state.ts'
import { unpackEvaluations } from '../../store/evaluation-log.ts'
import { parse, type RowReader } from '../../store/sql.ts'

/**
 * When a poll or an evaluation was last committed to a store (UNIX seconds by the host's clock); undefined if none ever was.
 *
 * @throws {StoreError} if the store cannot be read now
 */
export async function lastWritten({ rows }: RowReader): Promise<number | undefined> {
  const targets = await rows('SELECT sync FROM callwatch.targets')
  const polls = targets.flatMap(({ sync }) => parse<SyncState>(sync).lastSuccessHostTime ?? [])
  const hours = await rows(
    'SELECT hour, data FROM callwatch.evaluations WHERE hour = (SELECT max(hour) FROM callwatch.evaluations)',
  )
  const evaluations = hours.flatMap(({ hour, data }) => unpackEvaluations(Number(hour), String(data)).at(-1)?.at ?? [])
  const all = [...polls, ...evaluations]
  return all.length === 0 ? undefined : Math.max(...all)
}
